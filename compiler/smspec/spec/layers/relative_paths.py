"""Paths are relative to the file that contains them; in a merged spec, to the job's own file."""

from __future__ import annotations

import posixpath

from smspec.source import Mapping, Node, Scalar
from smspec.source.frozen import replace

_ANY = "*"
_PATHS = (
    ("source", "dir"),
    ("image", "python_requirements"),
    ("image", "secrets", _ANY, "file"),
    ("channels", _ANY, "local"),
)


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
