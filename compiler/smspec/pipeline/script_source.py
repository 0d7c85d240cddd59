"""Find the Python files of a source as Python would find them for an import, and read its texts.

Modules that a script imports, and that are next to it on this machine but not among the files that are sent, are
listed. All text files are read only for the few jobs that are compared with what the source mentions.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence

from smspec.script.reach import ForeignImport, IgnoredModule, MissingModule, Reach
from smspec.script.script_files import MOST_BYTES, ScriptUnreadable, data_files
from smspec.source import Document, Listing, Path, Scalar, SourceText
from smspec.source import Mapping as Entries
from smspec.source.frozen import replace
from smspec.source.real_file import open_real
from smspec.workspace.ignore_rules import IgnoreRules, TooManyPatterns

_ENDS = ("/__init__", "")
_COMPILED = (".pyc", ".pyd", ".so")

MOST_FILES = 400
MOST_CHARACTERS = 3_000_000
"""A larger source is not searched: what it does not mention is unknown then."""

_PROGRAMS = (".egg", ".jar", ".pyc", ".pyd", ".so", ".tar", ".tgz", ".whl", ".zip", ".gz")
"""Files that may contain code of the author, but not as text."""

_COMPARED = (("metrics",), ("checkpoints",), ("entry_point", "command"))
"""Keys of a spec that are compared with the texts of the source."""


class ProgramSource:
    """``files``: the path of each on this machine, by its path in the source. ``directory``: its name in the spec.

    ``places`` are searched in order. ``searches``: the job makes Python search other directories, too. ``unsaved``:
    contents by path in the source that are not on disk yet. ``is_as_listed``: all that was read has the ``digests``.
    """

    def __init__(
        self,
        files: dict[str, str],
        directory: str,
        places: tuple[str, ...],
        *,
        searches: bool,
        unsaved: Mapping[str, bytes] | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.searches = searches
        self.is_as_listed = digests is not None
        self._digests = digests or {}
        self._files = files
        self._unsaved = unsaved or {}
        self._directory = directory
        self._places = places
        self._compiled: set[str] | None = None
        self._by_end: dict[str, str] | None = None
        self._directories: set[str] | None = None
        self._names: set[str] | None = None
        self._texts: dict[str, SourceText | None] = {}

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds, or None. Raise `ScriptUnreadable`."""
        for file in candidates(name, self._places):
            if file in self._files:
                return self.readable(file)
            if file.removesuffix(".py") in self._compiled_modules():
                raise ScriptUnreadable("it is compiled")
        return None

    def file_of(self, name: str, places: tuple[str, ...]) -> str | None:
        """Return the path of the Python file that is a module, in the first of some directories that has it."""
        for file in candidates(name, places):
            if file in self._files:
                return file
            if file.removesuffix(".py") in self._compiled_modules():
                return None
        return None

    def is_other_module(self, name: str, places: tuple[str, ...]) -> bool:
        """Return whether a name is that of a directory without `__init__.py`, or of a compiled module."""
        if self._directories is None:
            self._directories = {above for path in self._files for above in _above(path)}
        path = name.replace(".", "/")
        return any(os.path.join(place, path) in self._directories for place in places) or any(
            file.removesuffix(".py") in self._compiled_modules() for file in candidates(name, places)
        )

    def is_elsewhere(self, name: str) -> bool:
        """Return whether any directory has a module of that name."""
        return self._elsewhere(name) is not None or any(f"/{name}/" in f"/{path}" for path in self._files)

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raise `ScriptUnreadable`."""
        found = self._elsewhere(name)
        return None if found is None else self.readable(found)

    def _elsewhere(self, name: str) -> str | None:
        if self._by_end is None:
            self._by_end = {}
            for file in self._files:
                stem = file.removesuffix(".py").removesuffix("/__init__").split("/")
                if file.endswith(".py"):
                    for start in range(len(stem)):
                        self._by_end.setdefault("/".join(stem[start:]), file)
        # A package may have more directories than its own; then only the last part of the name is that of a file.
        return self._by_end.get(name.replace(".", "/")) or self._by_end.get(name.rpartition(".")[2])

    def lacks_files(self, text: str) -> bool:
        """Return whether a text names a data file that the source may lack, or reads sections of one."""
        if self._names is None:
            self._names = {posixpath.basename(path) for path in self._files}
        return bool(data_files(text) - self._names) or "configparser" in text

    def readable(self, path: str) -> SourceText:
        """Return a file as text. Raise `ScriptUnreadable` and OSError."""
        text = self.text(path)
        if text is None:
            raise ScriptUnreadable(f"it is not UTF-8, or larger than {MOST_BYTES >> 20} MiB")
        return text

    def text(self, path: str) -> SourceText | None:
        """Return a file as text; None if it is missing, too large, or not UTF-8. Raise OSError."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if path in self._files else None
        return self._texts[path]

    def content(self, path: str) -> bytes:
        """Return the beginning of a file, one byte more than the limit of a script. Raise OSError."""
        if path in self._unsaved:
            return self._unsaved[path][: MOST_BYTES + 1]
        with open(open_real(self._files[path]), "rb", buffering=0) as file:
            return file.read(MOST_BYTES + 1)

    def _read(self, path: str) -> SourceText | None:
        content = self.content(path)
        # A file may have changed since it was listed.
        self.is_as_listed = self.is_as_listed and hashlib.sha256(content).hexdigest() == self._digests.get(path)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        if len(content) > MOST_BYTES:
            return None
        return SourceText(name=self.name_of(path), text=text.replace("\r\n", "\n"))

    def has(self, path: str) -> bool:
        """Return whether the source has a file."""
        return path in self._files

    def name_of(self, path: str) -> str:
        """Return the path of a file as the author would type it."""
        return os.path.normpath(os.path.join(self._directory, path))

    def path_of(self, name: str) -> str:
        """Return the path in the source of a file as the author would type it."""
        return os.path.relpath(name, self._directory or ".").replace("\\", "/")

    def _compiled_modules(self) -> set[str]:
        if self._compiled is None:
            found = [file for file in self._files if file.endswith(_COMPILED) and "__pycache__" not in file]
            self._compiled = {os.path.join(os.path.dirname(f), os.path.basename(f).partition(".")[0]) for f in found}
        return self._compiled


def candidates(name: str, places: tuple[str, ...]) -> Iterator[str]:
    """Yield the files that may be a module, in the order in which Python looks for them."""
    path = name.replace(".", "/")
    return (os.path.join(place, f"{path}{end}.py") for place in places for end in _ENDS)


def _above(path: str) -> Iterator[str]:
    while path := os.path.dirname(path):
        yield path


def compares_source(document: Document) -> bool:
    """Return whether a spec has any key that is compared with the texts of its source."""
    if any(document.node(path) is not None for path in _COMPARED):
        return True
    hyperparameters = document.node(("hyperparameters",))
    values = [value for _, value in hyperparameters.entries] if isinstance(hyperparameters, Entries) else []
    if any(isinstance(value, Scalar) and value.value == "" for value in values):
        return True
    channels = document.node(("channels",))
    names = [key.text for key, _ in channels.entries] if isinstance(channels, Entries) else []
    return any(_is_pipe(document, path) for path in (("input_mode",), *(("channels", n, "input_mode") for n in names)))


def source_texts(source: Listing, directory: str) -> tuple[SourceText, ...] | None:
    """Return the text files of a source; None if it has too many, or programs that are not text. Raise OSError.

    ``directory``: that of the source, as the author names it.
    """
    paths = [file.path for file in source.files]
    if len(paths) > MOST_FILES or any(path.lower().endswith(_PROGRAMS) for path in paths):
        return None
    if sum(file.size for file in source.files if file.path.endswith(".py")) > MOST_CHARACTERS:
        return None
    origins = {file.path: file.origin for file in source.files}
    files = ProgramSource(origins, directory, (), searches=False, unsaved=source.unsaved)
    found: list[SourceText] = []
    rest = MOST_CHARACTERS
    for path in paths:
        text = files.text(path)
        if text is None:
            if os.path.splitext(path)[1] in (".py", ".sh", ""):
                return None
            continue
        found.append(text)
        rest -= len(text.text)
        if rest < 0:
            return None
    return tuple(found)


def _is_pipe(document: Document, path: Path) -> bool:
    node = document.node(path)
    return isinstance(node, Scalar) and node.value == "Pipe"


def with_ignored(reach: Reach, directory: str, ignore: Sequence[str]) -> Reach:
    """Return what a script reaches, with the modules that are excluded from its source in a list of their own."""
    imports: list[MissingModule | ForeignImport] = [
        *(missing for missing in reach.missing if not missing.reason),
        *(foreign for foreign in reach.foreign if foreign.top not in sys.stdlib_module_names),
    ]
    found = {one: file for one in imports if (file := _file(one, reach.places, directory)) is not None}
    if not found:
        return reach
    root = os.path.realpath(directory)
    try:
        rules = IgnoreRules(root, ignore)
        ignored = [
            IgnoredModule(name=one.name, place=one.place, file=file, by=by)
            for one, file in found.items()
            if (by := rules.reason(file)) is not None
        ]
    except (OSError, TooManyPatterns):  # it is reported where the source is listed
        return reach
    names = {one.name for one in ignored}
    return replace(
        reach,
        ignored=tuple(ignored),
        missing=tuple(one for one in reach.missing if one.name not in names),
        foreign=tuple(one for one in reach.foreign if one.name not in names),
    )


def _file(one: MissingModule | ForeignImport, places: tuple[str, ...], directory: str) -> str | None:
    """Return the path of a module in the source directory, whether it is sent or not."""
    return next((file for file in _files(one.name, places) if os.path.isfile(os.path.join(directory, file))), None)


def _files(name: str, places: tuple[str, ...]) -> Iterator[str]:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        yield from candidates(".".join(parts[:count]), places)
