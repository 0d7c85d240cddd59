"""The plain data of a merged document, which the schema checks and decoding reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Union

from smspec.source import Mapping, Node, Scalar, Sequence, to_data
from smspec.source.memo import ByContent, ByIdentity
from smspec.spec.keys import ROWS
from smspec.spec.keys.value_forms import Value

_TEXT: Final = "text"
_AS_IS: Final = "as is"
if TYPE_CHECKING:
    # Evaluated at run time, this alias alone would take longer than to convert a spec.
    _Form = Union[str, "dict[str, _Form]"]


def _forms() -> dict[str, _Form]:
    """Return where a scalar is its written text, whatever it looks like, and where nothing is changed."""
    forms: dict[str, _Form] = {}
    for row in ROWS:
        form = row.form
        if isinstance(form, Value) and (form.as_written or form.untouched):
            holder = forms
            *parents, name = row.path.split(".")
            for parent in parents:
                holder = holder.setdefault(parent, {})  # type: ignore[assignment]  # rows are not below such values
            holder[name] = _TEXT if form.as_written else _AS_IS
    return forms


_FORMS = _forms()
_OF_NODES: ByIdentity[object] = ByIdentity()
_OF_CONTENT: ByContent[object] = ByContent()


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
