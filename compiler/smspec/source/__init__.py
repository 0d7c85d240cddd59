"""Texts, positions in them, and trees that keep their positions. This package does not know job specs.

A `SourceText` is a text with its origin, a `Span` a part of it, a `Path` the way to a value in a tree. A `Document` is
a tree of `Mapping`, `Sequence`, and `Scalar`, each with its span, so that a value can be traced to the line that the
author typed, however many files were merged. A `Listing` has the files of a directory that are sent.

The package is the floor of the compiler: it imports nothing of it. So it also has the few things that every package
needs and Python lacks: frozen values that are cheap to declare, and a memory of what was found about them (`frozen`),
files read without following links (`real_file`), and git started so that it runs no other program
(`git_command`).
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import abc
from typing import NamedTuple, Union

from smspec.source.frozen import dataclass, replace


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of one file. ``name`` is the path as the author typed or would type it."""

    name: str
    text: str


class Span(NamedTuple):
    """From (line, column) up to, not including, (end_line, end_column) of the file ``file``.

    Lines and columns count from 1, columns in code points, as in SARIF's ``unicodeCodePoints``. A spec has hundreds, so
    it is a tuple, which is created, compared, and pickled in half of the time.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Places:
    """The positions in one text. Lines end in line feeds, columns are code points, both count from 1."""

    def __init__(self, text: SourceText) -> None:
        self._name = text.name
        self._length = len(text.text)
        self._starts = [0]
        at = text.text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.text.find("\n", at + 1)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets; offsets past the end of the text are its end."""
        line, column = self._place(min(start, self._length))
        end_line, end_column = self._place(min(max(start, end), self._length))
        return Span(self._name, line, column, end_line, end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


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


class Null(NamedTuple):
    """A null that removes the value at ``path`` of the layers below; ``is_idle``: they have none."""

    path: Path
    place: Span
    is_idle: bool


@dataclass(frozen=True, slots=True)
class Document:
    """The tree at ``root`` and every text that a part of it came from, the main one first.

    ``nulls`` were written to remove something, and are not in the tree. ``unknown`` are the paths
    whose values could not be determined; they are null. ``is_partial``: a base spec could not be read, so every mapping
    may have more keys, and nulls are kept, because they remove what a base spec may have. ``settable``: path and
    text of each value with a variable that no option sets: an option may give it a value other than the one here.
    """

    root: Node
    texts: tuple[SourceText, ...]
    nulls: tuple[Null, ...] = ()
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

    def keys(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the mapping at ``path``; none without one."""
        node = self.node(path)
        return tuple(key.text for key, _ in node.entries) if isinstance(node, Mapping) else ()

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """``path`` is relative to the listed directory, with ``/``; ``origin`` is its path on this machine.

    ``names_runtime``: whether its first megabyte contains `smspec_runtime`, so that it may be code that imports it;
    ``names_toolkit``: the same of `sagemaker_training` and `sagemaker_containers`.
    """

    path: str
    origin: str
    executable: bool
    size: int
    sha256: str
    names_runtime: bool = False
    names_toolkit: bool = False


class Listing:
    """Regular files, sorted by path as UTF-8 bytes. ``unsaved``: path → content that is not on disk yet."""

    __slots__ = ("_digest", "files", "unsaved")

    def __init__(self, *, files: tuple[ListedFile, ...] = (), unsaved: abc.Mapping[str, bytes] | None = None) -> None:
        self.files = files
        self.unsaved = unsaved or {}
        self._digest = ""

    def __eq__(self, other: object) -> bool:
        return self.files == other.files if isinstance(other, Listing) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.files)

    def __repr__(self) -> str:
        return f"Listing(files={self.files!r})"

    @property
    def digest(self) -> str:
        """The SHA-256 of every path, executable bit, and content. Computed once: jobs share it."""
        if not self._digest:
            content = hashlib.sha256()
            for file in self.files:
                content.update(f"{file.path}\0{'x' if file.executable else '-'}\0{file.sha256}\n".encode())
            self._digest = content.hexdigest()
        return self._digest

    def has(self, path: str) -> bool:
        return any(file.path == path for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataExtent:
    """The number of files below a path, and their size in bytes. ``is_absent``: there is nothing with that path."""

    files: int
    bytes: int
    is_absent: bool = False
