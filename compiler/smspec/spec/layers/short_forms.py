"""What a file is before it is merged: without short forms, and with paths relative to the job's own file.

In a file, paths are relative to it. What is neither form is left to the check of the shape.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from smspec.source import Mapping, Node, Scalar
from smspec.source.frozen import replace
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import ChoiceForm, NamedForm, StructureForm

_ANY = "*"
_PATHS = (
    ("source", "dir"),
    ("image", "python_requirements"),
    ("image", "secrets", _ANY, "file"),
    ("channels", _ANY, "local"),
)


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


def _expansion(form: StructureForm | NamedForm | ChoiceForm) -> Callable[[Node], Node]:
    expand = _under(form.short)
    return _each(expand) if isinstance(form, NamedForm) else expand


_EXPANSIONS: dict[str, Callable[[Node], Node]] = {
    "distribution": _distribution,
    **{
        row.path: _expansion(row.form)
        for row in rows_below("")
        if isinstance(row.form, StructureForm | NamedForm | ChoiceForm) and row.form.short
    },
}


def rehomed(spec: Mapping, home: str) -> Mapping:
    """Return ``spec`` with every relative path rewritten to start at the directory of the file ``home``."""
    root: Node = spec
    for path in _PATHS:
        root = _at(root, path, posixpath.dirname(home))
    assert isinstance(root, Mapping)
    return root


def _at(node: Node, path: tuple[str, ...], home: str) -> Node:
    if not path:
        return _moved(node, home)
    if not isinstance(node, Mapping):
        return node
    step, rest = path[0], path[1:]
    if step != _ANY:
        value = node.get(step)
        if value is None or _at(value, rest, home) is value:
            return node  # the usual case needs no new entries
    entries = [(k, _at(value, rest, home) if k.text == step or step == _ANY else value) for k, value in node.entries]
    is_same = all(new is old for (_, new), (_, old) in zip(entries, node.entries, strict=True))
    return node if is_same else replace(node, entries=tuple(entries))


def _moved(node: Node, home: str) -> Node:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return node
    origin = posixpath.dirname(node.span.file)
    if origin == home:
        return node
    moved = relocated(node.value, origin, home)
    return node if moved == node.value else replace(node, text=moved, value=moved)


def relocated(path: str, origin: str, home: str) -> str:
    """Return the path from the directory ``home`` to what ``path`` is in the directory ``origin``.

    Compare only names and never read the disk, so the result is the same on every machine.
    """
    origin, home = posixpath.normpath(origin), posixpath.normpath(home)
    if origin == home or not path or posixpath.isabs(path) or "://" in path or path.startswith("~/"):
        return path
    target = posixpath.normpath(posixpath.join(origin, path))
    if posixpath.isabs(target) == posixpath.isabs(home):
        there, here = _steps(target), _steps(home)
        shared = 0
        while shared < min(len(there), len(here)) and there[shared] == here[shared]:
            shared += 1
        if ".." not in here[shared:]:
            target = "/".join([".."] * (len(here) - shared) + there[shared:]) or "."
        else:
            # Above the current directory: only the disk has the names for the way back.
            target = posixpath.relpath(target, home)
    return f"{target}/" if path.endswith("/") else target


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]
