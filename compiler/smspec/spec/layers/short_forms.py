"""Expand the short forms of a spec. What is neither form is left to the check of the shape."""

from __future__ import annotations

from collections.abc import Callable

from smspec.source import Mapping, Node, Scalar
from smspec.spec.keys import rows_below
from smspec.spec.keys.value_forms import Choice, Named, Structure


def expanded(spec: Mapping) -> Mapping:
    """Return a spec, or a part of one such as an overlay, with every short form in its long form.

    A string for ``image`` is not a short form: it is an existing image, a different kind than a mapping.
    """
    return _with(spec, _EXPANSIONS)


def _with(mapping: Mapping, expansions: dict[str, Callable[[Node], Node]]) -> Mapping:
    changed = {}
    for key, value in mapping.entries:
        expand = expansions.get(key.text)
        if expand is not None and (long := expand(value)) is not value:
            changed[key.text] = long
    if not changed:
        return mapping
    entries = tuple((key, changed.get(key.text, value)) for key, value in mapping.entries)
    return Mapping(entries, mapping.span, mapping.used_at)


def _under(name: str) -> Callable[[Node], Node]:
    """Return the expansion of a string to ``{name: string}``."""

    def expand(value: Node) -> Node:
        if not isinstance(value, Scalar) or not isinstance(value.value, str):
            return value
        # No one wrote this key: its position is that of its value.
        key = Scalar(name, name, True, value.span, value.used_at)
        return Mapping(((key, value),), value.span, value.used_at)

    return expand


def _distribution(value: Node) -> Node:
    # While it still contains a variable its name is unknown; variables are replaced before the last expansion.
    if not isinstance(value, Scalar) or not isinstance(value.value, str) or "${{" in value.value:
        return value
    return Mapping(((value, Mapping((), value.span, value.used_at)),), value.span, value.used_at)


def _each(expand: Callable[[Node], Node]) -> Callable[[Node], Node]:
    """Return the expansion of every value of a mapping."""

    def expand_each(value: Node) -> Node:
        if not isinstance(value, Mapping):
            return value
        entries = tuple((key, expand(item)) for key, item in value.entries)
        if all(new is old for (_, new), (_, old) in zip(entries, value.entries, strict=True)):
            return value
        return Mapping(entries, value.span, value.used_at)

    return expand_each


def _expansion(form: Structure | Named | Choice) -> Callable[[Node], Node]:
    expand = _under(form.short)
    return _each(expand) if isinstance(form, Named) else expand


_EXPANSIONS: dict[str, Callable[[Node], Node]] = {
    "distribution": _distribution,
    **{
        row.path: _expansion(row.form)
        for row in rows_below("")
        if isinstance(row.form, Structure | Named | Choice) and row.form.short
    },
}
