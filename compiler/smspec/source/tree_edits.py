"""Replace, add, or remove one part of a tree; everything else stays the same value."""

from __future__ import annotations

from smspec.source.frozen import replace
from smspec.source.node import Mapping, Node, Scalar, Sequence
from smspec.source.path import Path


def grafted(root: Node, path: Path, part: Node) -> Node:
    """Return ``root`` with ``part`` at ``path``, under a new key if necessary; unchanged if the path leads nowhere."""
    if not path:
        return part
    step, rest = path[0], path[1:]
    if isinstance(root, Sequence):
        if not isinstance(step, int) or not 0 <= step < len(root.items):
            return root
        items = root.items
        return replace(root, items=(*items[:step], grafted(items[step], rest, part), *items[step + 1 :]))
    if not isinstance(root, Mapping) or not isinstance(step, str):
        return root
    if root.get(step) is not None:
        entries = tuple((k, grafted(v, rest, part) if k.text == step else v) for k, v in root.entries)
        return replace(root, entries=entries)
    key = Scalar(step, step, True, root.span)
    return root if rest else replace(root, entries=(*root.entries, (key, part)))


def pruned(root: Node, path: Path) -> Node:
    """Return ``root`` without the part at ``path``."""
    if not path:
        return root
    step, rest = path[0], path[1:]
    if isinstance(root, Sequence) and isinstance(step, int):
        kept = tuple(
            pruned(item, rest) if index == step else item
            for index, item in enumerate(root.items)
            if rest or index != step
        )
        return replace(root, items=kept)
    if isinstance(root, Mapping):
        entries = tuple(
            (k, pruned(v, rest) if k.text == step else v) for k, v in root.entries if rest or k.text != step
        )
        return replace(root, entries=entries)
    return root
