"""Check whether a merged document has the shape of a job, and explain where it does not.

`shape_findings` returns findings SM2. `accepts` of `smspec.spec.schema` alone decides what fits; `shape_faults` follows
a value that does not down to its smallest wrong parts, and each of them becomes a finding with its most likely repair:
the nearest key, the smspec key for a key of another tool, or the unit that is missing. Faults are independent: one
mistake is one finding.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final, Union

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, SourceText, dotted, to_data
from smspec.source.frozen import ByContent, ByIdentity, replace
from smspec.spec.keys import ROWS
from smspec.spec.keys.row import ValueForm
from smspec.spec.layers.merging import is_patch
from smspec.spec.schema import accepts, merged_schema
from smspec.spec.yaml.events import read_elsewhere_as

if TYPE_CHECKING:
    # Evaluated at run time, this alias alone would take longer than to convert a spec.
    _Form = Union[str, "dict[str, _Form]"]


_TEXT: Final = "text"

_AS_IS: Final = "as is"

_OF_NODES: ByIdentity[object] = ByIdentity()

_OF_CONTENT: ByContent[object] = ByContent()

NULL_THAT_REMOVES_NOTHING = Rule("SM216", "null without effect", "warning")

AMBIGUOUS_TEXT = Rule("SM215", "ambiguous hyperparameter string", "warning")

_NONE = r"['\"](?i:none)['\"]"

_TRUE = frozenset(("yes", "y", "on"))


def shape_findings(document: Document, data: object = None) -> list[Finding]:
    """Return every mismatch between a merged document, with its short forms expanded, and the schema."""
    data = viewed(document.root) if data is None else data
    schema = merged_schema()
    if accepts(schema, data, schema):
        return []
    # Imported late: a valid spec does not need it.
    from smspec.spec.shape.schema_errors import describe

    findings = describe(document, data)
    if not findings:
        # Without a finding for a fault, an invalid spec would be built (tests/compiler/spec/shape/test_agreement.py).
        raise RuntimeError("the schema refuses this spec, and no error is reported for it")
    return findings


def _forms() -> dict[str, _Form]:
    """Return where a scalar is its written text, whatever it looks like, and where nothing is changed."""
    forms: dict[str, _Form] = {}
    for row in ROWS:
        form = row.form
        if isinstance(form, ValueForm) and (form.as_written or form.untouched):
            holder = forms
            *parents, name = row.path.split(".")
            for parent in parents:
                holder = holder.setdefault(parent, {})  # type: ignore[assignment]  # rows are not below such values
            holder[name] = _TEXT if form.as_written else _AS_IS
    return forms


_FORMS = _forms()


def viewed(root: Node) -> object:
    """Return the document as data, which must not be changed. A key whose value is null is a key that was removed.

    Documents that have the same under a top-level key share one value, so that what is found about it can be remembered
    by its identity.
    """
    if not isinstance(root, Mapping):
        return _view(root, _FORMS)
    return {
        key.text: _shared(key.text, value)
        for key, value in root.entries
        if not (isinstance(value, Scalar) and value.value is None)
    }


def _shared(key: str, node: Node) -> object:
    form = _form_of(key, _FORMS)
    if isinstance(node, Scalar):
        return _view(node, form)
    return _OF_NODES.of(key, node, lambda: _OF_CONTENT.of(key, _view(node, form), lambda data: data))


def _view(node: Node, form: _Form) -> object:
    if isinstance(node, Scalar):
        return node.text if form is _TEXT and node.value is not None else node.value
    if form is _AS_IS:
        return to_data(node)
    if isinstance(node, Sequence):
        return [_view(item, form) for item in node.items]
    return {
        key.text: _view(value, _form_of(key.text, form))
        for key, value in node.entries
        if not (isinstance(value, Scalar) and value.value is None)
    }


def _form_of(key: str, form: _Form) -> _Form:
    if isinstance(form, str):
        return form
    return form.get(key) or form.get("*") or {}


def nulls_that_remove_nothing(document: Document, patched: Collection[Path]) -> Iterator[Finding]:
    """Yield each null of the layers that removes nothing; ``patched``: those of `api` that find no such member."""
    for path, place, is_idle in document.nulls:
        if is_idle and (not is_patch(path) or path in patched):
            found = NULL_THAT_REMOVES_NOTHING.at(
                path,
                f"`{dotted(path)}` has no effect: it is null, and no layer below sets it",
                help="add a value, in quotes if it starts with `#`, or remove the key",
            )
            yield replace(found, place=place)


def ambiguous_texts(document: Document, program_texts: Collection[SourceText] = ()) -> Iterator[Finding]:
    """Yield every unquoted string of the hyperparameters that other parsers read as a boolean, a number, or a date.

    Only there does the type reach the script: any other key has one type, which the schema requires. `None` is no fault
    if ``program_texts``, those of the script, have this string: a choice, a default, or what a value is compared with.
    """
    node = document.node(("hyperparameters",))
    if isinstance(node, Mapping):
        for finding, text in _found(node, ("hyperparameters",)):
            if text != "None" or not any(re.search(_NONE, one.text) for one in program_texts):
                yield finding


def _found(node: Node, path: Path) -> Iterator[tuple[Finding, str]]:
    if not isinstance(node, Scalar):
        parts = ((k.text, v) for k, v in node.entries) if isinstance(node, Mapping) else enumerate(node.items)
        for step, part in parts:
            yield from _found(part, (*path, step))
    elif node.plain and isinstance(node.value, str) and (kind := read_elsewhere_as(node.text)):
        message = f"`{dotted(path)}` is a string; other YAML readers see {kind} in {quoted(node.text)}"
        yield AMBIGUOUS_TEXT.at(path, message, help=_help(node.text, kind)), node.text
    elif node.plain and node.value == "None":
        message = f"`{dotted(path)}` is the string `None`, which is true in Python"
        help = 'remove it for the default of the script, or write `"None"` for the string'
        yield AMBIGUOUS_TEXT.at(path, message, help=help), node.text


def _help(text: str, kind: str) -> str:
    as_text = f'write `"{text}"` for the string'
    if kind == "a boolean":
        return f"{as_text}, or `{'true' if text.lower() in _TRUE else 'false'}` for the boolean"
    return as_text if kind == "a date" else f"{as_text}, or the number in decimal digits"
