"""Trees of scalars, sequences, and mappings in which every part has its position in a text."""

from __future__ import annotations

from typing import Union

from smspec.source.frozen import dataclass
from smspec.source.span import Span


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
