"""Replace keys and scalar values in a YAML text; every other character stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as Dictionary

from smspec.diagnostics import InvalidInput
from smspec.diagnostics.suggestions import Fix
from smspec.source import Document, Mapping, Node, Scalar, Sequence, SourceText, Span
from smspec.spec.yaml import read
from smspec.spec.yaml.events import meaning

_PLAIN_IN_QUOTES = re.compile(r"[^\\'\"]*")


def applicable(document: Document, fixes: Dictionary[Span, Fix]) -> dict[Span, Fix]:
    """Return those fixes whose text is at their position, as one key or value on one line, without a variable."""
    written: dict[Span, set[str]] = {}
    for scalar in _scalars(document.root):
        written.setdefault(scalar.span, set()).add(scalar.text)
    return {
        span: fix
        for span, fix in fixes.items()
        if written.get(span) == {fix.written} and span.line == span.end_line and "${{" not in fix.written
    }


def written_at(document: Document, span: Span) -> str:
    """Return the text at a position on one line."""
    return document.texts[0].text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def edited(document: Document, fixes: Dictionary[Span, Fix]) -> str | None:
    """Return the text of a file with `applicable` fixes; None if more than these keys and values would change."""
    text = document.texts[0]
    lines = text.text.split("\n")
    for span in sorted(fixes, reverse=True, key=lambda span: (span.line, span.column)):
        line = lines[span.line - 1]
        start, end = span.column - 1, span.end_column - 1
        lines[span.line - 1] = line[:start] + in_style_of(line[start:end], fixes[span].meant) + line[end:]
    result = "\n".join(lines)
    try:
        after = read(SourceText(text.name, result))
    except InvalidInput:
        return None
    return result if _is_same(document.root, after.root, fixes) else None


def in_style_of(written: str, meant: str) -> str:
    """Return YAML with the quotes that the author used, where they do not change its meaning."""
    quote = written[:1]
    is_text = isinstance(meaning(meant), str) and _PLAIN_IN_QUOTES.fullmatch(meant) and not meant.startswith("[")
    return f"{quote}{meant}{quote}" if quote in ("'", '"') and is_text else meant


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for key, value in node.entries:
            yield key
            yield from _scalars(value)


def _is_same(old: Node, new: Node, fixes: Dictionary[Span, Fix]) -> bool:
    """Return whether two trees differ only in the keys and values at the positions of the fixes."""
    if old.span in fixes and isinstance(old, Scalar):
        return True
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        return (old.text, old.value, old.plain) == (new.text, new.value, new.plain)
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        return len(old.items) == len(new.items) and all(
            _is_same(one, other, fixes) for one, other in zip(old.items, new.items, strict=True)
        )
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return len(old.entries) == len(new.entries) and all(
            _is_same(key, other_key, fixes) and _is_same(value, other, fixes)
            for (key, value), (other_key, other) in zip(old.entries, new.entries, strict=True)
        )
    return False
