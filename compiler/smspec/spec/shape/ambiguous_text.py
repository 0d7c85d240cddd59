"""Unquoted hyperparameters that are strings for smspec and values of a different type for other YAML parsers."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Document, Mapping, Node, Path, Scalar, dotted
from smspec.spec.yaml.plain_text import read_elsewhere_as

AMBIGUOUS_TEXT = Rule("SM215", "ambiguous hyperparameter string", "warning")

_TRUE = frozenset(("yes", "y", "on"))


def ambiguous_texts(document: Document) -> Iterator[Finding]:
    """Yield every unquoted string of the hyperparameters that other parsers read as a boolean, a number, or a date.

    Only there does the type reach the script: any other key has one type, which the schema requires.
    """
    node = document.node(("hyperparameters",))
    if isinstance(node, Mapping):
        yield from _found(node, ("hyperparameters",))


def _found(node: Node, path: Path) -> Iterator[Finding]:
    if not isinstance(node, Scalar):
        parts = ((k.text, v) for k, v in node.entries) if isinstance(node, Mapping) else enumerate(node.items)
        for step, part in parts:
            yield from _found(part, (*path, step))
    elif node.plain and isinstance(node.value, str) and (kind := read_elsewhere_as(node.text)):
        yield AMBIGUOUS_TEXT.at(
            path,
            f"`{dotted(path)}` is a string; other YAML readers see {kind} in {quoted(node.text)}",
            help=_help(node.text, kind),
        )


def _help(text: str, kind: str) -> str:
    as_text = f'write `"{text}"` for the string'
    if kind == "a boolean":
        return f"{as_text}, or `{'true' if text.lower() in _TRUE else 'false'}` for the boolean"
    return as_text if kind == "a date" else f"{as_text}, or the number in decimal digits"
