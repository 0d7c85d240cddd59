"""A tree together with the texts it was read from: the only place that converts paths to positions."""

from __future__ import annotations

from smspec.source.frozen import dataclass
from smspec.source.node import Mapping, Node, Path, Scalar, Sequence
from smspec.source.text import SourceText, Span


@dataclass(frozen=True, slots=True)
class Document:
    """The tree at ``root`` and every text that a part of it came from, the main one first.

    ``idle`` are nulls that were written to remove something, and found nothing at their path. ``unknown`` are the paths
    whose values could not be determined; they are null. ``is_partial``: a base spec could not be read, so every mapping
    may have more keys, and nulls are kept, because they remove what a base spec may have. ``settable``: path and
    text of each value with a variable that no option sets: an option may give it a value other than the one here.
    """

    root: Node
    texts: tuple[SourceText, ...]
    idle: tuple[tuple[Path, Span], ...] = ()
    unknown: tuple[Path, ...] = ()
    is_partial: bool = False
    settable: tuple[tuple[Path, str], ...] = ()

    @property
    def is_partly_known(self) -> bool:
        """Whether the whole document may differ from the known parts here."""
        return self.is_partial or bool(self.unknown)

    def text(self, name: str) -> SourceText | None:
        """Return the text called ``name``, or None."""
        for text in self.texts:
            if text.name == name:
                return text
        return None

    def node(self, path: Path) -> Node | None:
        """Return the part at ``path``, or None."""
        node: Node | None = self.root
        for step in path:
            node = _child(node, step)
        return node

    def string(self, path: Path) -> str | None:
        """Return the string at ``path``; None if there is none, an empty one, or a different value."""
        node = self.node(path)
        return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None

    def strings(self, path: Path) -> tuple[str, ...]:
        """Return the strings in the list at ``path``, without its other items."""
        node = self.node(path)
        items = node.items if isinstance(node, Sequence) else ()
        return tuple(item.value for item in items if isinstance(item, Scalar) and isinstance(item.value, str))

    def span_of_value(self, path: Path) -> Span:
        """Return the position of the value at ``path``; if the path ends early, that of its nearest ancestor."""
        node, known = self._deepest(path)
        if known and isinstance(node, Mapping | Sequence) and known != len(path):
            return self.span_of_key(path[:known])
        return node.span

    def span_of_key(self, path: Path) -> Span:
        """Return the position of the key at the end of ``path``; for an item of a sequence, that of the item."""
        parent, known = self._deepest(path[:-1])
        if path and known == len(path) - 1 and isinstance(parent, Mapping):
            for key, _ in parent.entries:
                if key.text == path[-1]:
                    return key.span
        if path and known == len(path) - 1 and isinstance(parent, Sequence):
            child = _child(parent, path[-1])
            if child is not None:
                return child.span
        if known:
            return self.span_of_key(path[:known])
        span = parent.span
        return Span(span.file, span.line, span.column, span.line, span.column)

    def used_at(self, path: Path) -> Span | None:
        """Return where an alias used the value at ``path``, or None if it is used where it is written."""
        node: Node | None = self.root
        found: Span | None = None
        for step in path:
            node = _child(node, step)
            if node is None:
                return found
            found = node.used_at or found
        return found

    def _deepest(self, path: Path) -> tuple[Node, int]:
        node = self.root
        for depth, step in enumerate(path):
            child = _child(node, step)
            if child is None:
                return node, depth
            node = child
        return node, len(path)


def _child(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, Mapping):
        return node.get(step) if isinstance(step, str) else None
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None
