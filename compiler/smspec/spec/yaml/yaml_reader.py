"""Parse the text of a file to a tree with positions: strict YAML 1.2, within limits."""

from __future__ import annotations

import re

from yaml import MarkedYAMLError

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.diagnostics.unseen_names import check_names
from smspec.source import Document, Mapping, Node, Scalar, Sequence, SourceText
from smspec.spec.yaml import text_limits
from smspec.spec.yaml.composing import VARIABLE, Composer
from smspec.spec.yaml.encoding import decode_bytes
from smspec.spec.yaml.events import BROKEN_YAML, events
from smspec.spec.yaml.scalars import meaning
from smspec.spec.yaml.syntax import add_error

__all__ = ["decode_bytes", "read", "read_scalar"]

EMPTY_SPEC = Rule("SM109", "empty spec")
NO_MAPPING = Rule("SM114", "spec other than a mapping")

# The first characters of anything except a plain scalar.
_SIGNS = tuple("\"'[{&*!|>%@`")


def read(text: SourceText) -> Document:
    """Return the tree of ``text``; raise `InvalidInput` with all errors."""
    if text.text.startswith("\ufeff"):
        text = SourceText(text.name, text.text[1:])
    faults = ParseErrors(text)
    text_limits.check(faults)
    root = _composed(faults)
    if faults:
        raise faults.rejected()
    if not isinstance(root, Mapping):
        _refuse_root(root, faults)
        raise faults.rejected()
    if root.get("smspec") is not None or root.get("require") is not None:  # not a template of another tool
        check_names(faults, root)
    if faults:
        raise faults.rejected()
    return Document(root, (text,))


def read_scalar(text: SourceText) -> Scalar:
    """Return the one value of ``text``, as on a command line; raise `InvalidInput` if there is none, or several.

    Without quotes the whole text is the value: it cannot contain a comment, or ``key: value``.
    """
    faults = ParseErrors(text)
    text_limits.check(faults)
    bare = text.text.strip(" \t\n")
    if not bare.startswith(_SIGNS):
        return Scalar(bare, meaning(bare), True, faults.span(0, len(text.text)))
    root = _composed(faults)
    if faults:
        raise faults.rejected()
    if not isinstance(root, Scalar):
        faults.add(BROKEN_YAML, faults.span(0, len(text.text)), "a list or a mapping, not a single value")
        raise faults.rejected()
    return root


def _composed(faults: ParseErrors) -> Node | None:
    text = faults.text.text
    composer = Composer(faults)
    try:
        composer.compose(events(text, faults))
        return composer.root
    except MarkedYAMLError as error:
        if _split_variable(error, text):
            # With the variables masked, the rest can still be parsed, so all errors are reported at once.
            again = ParseErrors(faults.text)
            add_error(error, again)
            composer = Composer(again, masked=True)
            try:
                composer.compose(events(re.sub(VARIABLE, lambda match: "$" + "_" * (len(match[0]) - 1), text), again))
            except MarkedYAMLError as second:
                add_error(second, again)
            raise again.rejected() from None
        add_error(error, faults)
    return None


def _split_variable(error: MarkedYAMLError, text: str) -> bool:
    at = error.problem_mark.index if error.problem_mark else 0
    return re.compile(VARIABLE).match(text, at - 1) is not None if at else False


def _refuse_root(root: Node | None, faults: ParseErrors) -> None:
    if root is None or (isinstance(root, Scalar) and root.plain and not root.text):
        faults.add(
            EMPTY_SPEC, faults.span(0, 0), "the file is empty", help="run `smspec init` to write a commented spec"
        )
        return
    what = "a list" if isinstance(root, Sequence) else "a single value"
    help = "write keys with values, `name: my-job`"
    faults.add(NO_MAPPING, root.span, f"the spec is {what}, not a mapping", help=help)
