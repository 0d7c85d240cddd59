"""Trees of scalars, sequences, and mappings in which every part has a path, and its position in a text.

`grafted` and `pruned` replace, add, or remove one part of a tree; everything else stays the same value.
"""

from __future__ import annotations

import json
from typing import Union

from smspec.source.frozen import dataclass, replace
from smspec.source.text import Span

Path = tuple["str | int", ...]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def dotted(path: Path) -> str:
    """Return a path in dotted form: ``channels.train.input_mode``, ``Tags[0].Key``, ``tags["a b"]``."""
    words: list[str] = []
    for step in path:
        if isinstance(step, int):
            words.append(f"[{step}]")
        elif step and _PLAIN.issuperset(step):
            words.append(f".{step}" if words else step)
        else:
            words.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(words)


def is_near(path: Path, other: Path) -> bool:
    """Return whether one path leads to the other, or is the same."""
    length = min(len(path), len(other))
    return path[:length] == other[:length]


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. ``text`` is what the author wrote, without quotes; ``value`` is its meaning.

    ``plain`` distinguishes an unquoted YAML scalar (``5``) from a quoted one (``"5"``). ``used_at`` is where an alias
    used the value, if it is not used where it is written.
    """

    text: str
    value: str | int | float | bool | None
    plain: bool
    span: Span
    used_at: Span | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    span: Span
    used_at: Span | None = None


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys in the order of the author. Keys are scalars with text values and are unique."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span
    used_at: Span | None = None

    def get(self, key: str) -> Node | None:
        """Return the value under ``key``, or None."""
        for name, value in self.entries:
            if name.value == key:
                return value
        return None


Node = Union[Scalar, Sequence, Mapping]


def to_data(node: Node) -> object:
    """Return the plain Python value of a tree: dicts, lists, and scalar values."""
    if isinstance(node, Mapping):
        return {key.text: to_data(value) for key, value in node.entries}
    if isinstance(node, Sequence):
        return [to_data(item) for item in node.items]
    return node.value


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
