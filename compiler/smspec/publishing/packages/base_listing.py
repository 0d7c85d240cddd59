"""The files of a base image: their names, from all of its layers, without unpacking one."""

from __future__ import annotations

import os.path
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_MOST_LINKS = 40
"""How many symbolic links Linux follows in a path."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a layer. ``path`` is absolute. ``text``: the target of a link, or the content of a RECORD.

    ``status``: mode, user, group, and time of a directory.
    """

    path: str
    kind: Literal["file", "directory", "link"]
    text: str = ""
    status: tuple[int, int, int, int] = (0o755, 0, 0, 0)


class Listing:
    """The files of an image, by path."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self._entries = entries

    def get(self, path: str) -> Entry | None:
        """Return what is at a path; links in it are not followed."""
        return self._entries.get(path)

    def has(self, path: str) -> bool:
        """Return whether there is something at a path, where links lead to."""
        there = self.resolved(path)
        return self.get(there) is not None or self.is_directory(there)

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory at a path, which no layer need list if it lists a file in it."""
        entry = self.get(path)
        return (entry is not None and entry.kind == "directory") or bool(self.names(path))

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted."""
        return tuple(sorted(self._children[directory]))

    def resolved(self, path: str) -> str:
        """Return a path without symbolic links; what does not exist stays as it is. Raise ValueError for a loop."""
        left = [part for part in path.split("/") if part][::-1]
        found, links = "", 0
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            if part == "..":
                found = posixpath.dirname(found) if found else ""
                found = "" if found == "/" else found
                continue
            entry = self._entries.get(f"{found}/{part}")
            if entry is None or entry.kind != "link":
                found = f"{found}/{part}"
                continue
            links += 1
            if links > _MOST_LINKS:
                raise ValueError(path)
            found = "" if entry.text.startswith("/") else found
            left += [each for each in entry.text.split("/") if each][::-1]
        return found or "/"

    @cached_property
    def _children(self) -> defaultdict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self._entries:
            while path:  # a layer need not list the directories above its files
                directory, _, name = path.rpartition("/")
                if name in found[directory or "/"]:
                    break
                found[directory or "/"].add(name)
                path = directory
        return found


def listing_of(layers: Iterable[Iterable[Entry]]) -> Listing:
    """Return the files of an image from those of its layers, the lowest first."""
    found: dict[str, Entry] = {}
    for layer in layers:
        entries = [*layer]
        gone, opaque = set(), set()
        for entry in entries:
            directory, _, name = entry.path.rpartition("/")
            if name == _OPAQUE:
                opaque.add(directory)
            elif name.startswith(_WHITEOUT):
                gone.add(f"{directory}/{name.removeprefix(_WHITEOUT)}")
            elif entry.kind != "directory":
                gone.add(entry.path)
        if gone or opaque:
            found = {path: kept for path, kept in found.items() if not _is_removed(path, gone, opaque)}
        for entry in entries:
            if not os.path.basename(entry.path).startswith(_WHITEOUT):
                found[entry.path] = entry
    return Listing(found)


def _is_removed(path: str, gone: set[str], opaque: set[str]) -> bool:
    return path in gone or any(above in gone or above in opaque for above in _above(path))


def _above(path: str) -> Iterator[str]:
    """Yield the directories above a path; the last one is the root, which is empty."""
    while path:
        path = path.rpartition("/")[0]
        yield path
