"""The files of a job's script as they are copied: from the directory of the program, and from cells that write them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence

from smspec.importer.code import LocalCode
from smspec.importer.marks import holds_mark, with_references
from smspec.source.frozen import dataclass
from smspec.source.listing import ListedFile
from smspec.workspace.boundary import Boundary
from smspec.workspace.source_listing import listed_file, scan_source

_OUTSIDE = "it is outside of the directory or repository of the program; copy it"
_UNKNOWN = "its path is known only when the program runs; copy it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFiles:
    """``files``: path below the source directory → a file of this machine, or text that a cell writes.

    ``not_copied``: path, relative to the program → why it is missing.
    """

    files: dict[str, ListedFile | str]
    not_copied: dict[str, str]


def code_files(code: LocalCode, base: str, boundary: Boundary, skipped: Sequence[str] = ()) -> CodeFiles:
    """Return the files of a job's script.

    ``base`` is the directory of the program. Files outside of the boundary are not copied. ``skipped`` are not part of
    any source: the program itself, and the directory that is written.
    """
    reading = _Reading(base, boundary, skipped)
    reading.read(code)
    return CodeFiles(files=reading.files, not_copied=reading.faults)


class _Reading:
    def __init__(self, base: str, boundary: Boundary, skipped: Sequence[str]) -> None:
        self.base = base
        self.boundary = boundary
        self.skipped = skipped
        self.files: dict[str, ListedFile | str] = {}
        self.faults: dict[str, str] = {}

    def read(self, code: LocalCode) -> None:
        if holds_mark(code.directory) or holds_mark(code.script):
            self._lose(_joined(code.directory, code.script), _UNKNOWN)
            return
        if code.is_alone:
            self._add(code.script, _joined(code.directory, code.script))
        else:
            self._tree(code.directory, "")
        for path in code.dependencies:
            self._dependency(path)
        for path, text in code.written.items():
            # A cell writes its file when the notebook runs, over the one that may be there now.
            self._written(code, posixpath.relpath(path, code.directory), text)
        if code.script not in self.files and code.directory not in self.faults:
            self.faults.setdefault(_joined(code.directory, code.script), "it does not exist; copy it")

    def _written(self, code: LocalCode, path: str, text: str) -> None:
        if (path == code.script or not code.is_alone) and not path.startswith("../"):
            self.files[path] = text
            self.faults.pop(_joined(code.directory, path), None)

    def _dependency(self, path: str) -> None:
        name = posixpath.basename(posixpath.normpath(path))
        if holds_mark(path):
            self._lose(path, _UNKNOWN)
        elif os.path.isdir(os.path.join(self.base, path)):
            self._tree(path, f"{name}/")
        else:
            self._add(name, path)

    def _tree(self, directory: str, prefix: str) -> None:
        place = os.path.join(self.base, directory)
        if not os.path.isdir(place):
            return  # cells may write all of its files
        if not self.boundary.contains(place):
            self._lose(directory, _OUTSIDE)
            return
        found = scan_source(place, exclude=self.skipped)
        self.files.update({prefix + file.path: file for file in found.listing.files})
        for fault in found.faults:
            self._lose(_joined(directory, fault.path), fault.detail or "smspec cannot send it")

    def _add(self, name: str, path: str) -> None:
        place = os.path.join(self.base, path)
        try:
            if self.boundary.is_file(place):
                self.files[name] = listed_file(name, os.path.realpath(place))
            elif os.path.exists(place):
                self._lose(path, "it is not a file" if self.boundary.contains(place) else _OUTSIDE)
            else:
                self._lose(path, "it does not exist; copy it")
        except (OSError, ValueError) as fault:
            self._lose(path, getattr(fault, "strerror", None) or "it cannot be read")

    def _lose(self, path: str, why: str) -> None:
        self.faults[with_references(path)] = why


def _joined(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def pieces_of(file: ListedFile | str) -> Iterator[bytes]:
    """Yield the content of a file."""
    if isinstance(file, str):
        yield file.encode("utf-8", "surrogatepass")
        return
    with open(file.origin, "rb") as content:
        while piece := content.read(1 << 20):
            yield piece
