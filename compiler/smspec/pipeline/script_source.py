"""Find the Python files of a source as Python would find them for an import."""

from __future__ import annotations

import os

from smspec.script.parse_limits import MOST_BYTES, ScriptUnreadable
from smspec.source import SourceText
from smspec.source.real_file import open_real

_ENDS = ("/__init__", "")
_COMPILED = (".pyc", ".pyd", ".so")


class ProgramSource:
    """``files``: the path of each on this machine, by its path in the source. ``directory``: its name in the spec.

    ``places`` are searched in order. ``searches``: the job makes Python search other directories, too.
    """

    def __init__(self, files: dict[str, str], directory: str, places: tuple[str, ...], *, searches: bool) -> None:
        self.searches = searches
        self._files = files
        self._directory = directory
        self._places = places
        self._compiled: set[str] | None = None
        self._by_end: dict[str, str] | None = None

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds, or None. Raise `ScriptUnreadable`."""
        path = name.replace(".", "/")
        for place in self._places:
            for end in _ENDS:
                file = os.path.join(place, f"{path}{end}.py")
                if file in self._files:
                    return self.readable(file)
                if file.removesuffix(".py") in self._compiled_modules():
                    raise ScriptUnreadable("it is compiled")
        return None

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raise `ScriptUnreadable`."""
        if self._by_end is None:
            self._by_end = {}
            for file in self._files:
                stem = file.removesuffix(".py").removesuffix("/__init__").split("/")
                if file.endswith(".py"):
                    for start in range(len(stem)):
                        self._by_end.setdefault("/".join(stem[start:]), file)
        # A package may have more directories than its own; then only the last part of the name is that of a file.
        found = self._by_end.get(name.replace(".", "/")) or self._by_end.get(name.rpartition(".")[2])
        return None if found is None else self.readable(found)

    def readable(self, path: str) -> SourceText:
        """Return a file as text. Raise `ScriptUnreadable` and OSError."""
        text = self.text(path)
        if text is None:
            raise ScriptUnreadable(f"it is not UTF-8, or larger than {MOST_BYTES >> 20} MiB")
        return text

    def text(self, path: str) -> SourceText | None:
        """Return a file as text; None if it is missing, too large, or not UTF-8. Raise OSError."""
        if path not in self._files:
            return None
        with open(open_real(self._files[path]), "rb", buffering=0) as file:
            content = file.read(MOST_BYTES + 1)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        if len(content) > MOST_BYTES:
            return None
        name = os.path.normpath(os.path.join(self._directory, path))
        return SourceText(name=name, text=text.replace("\r\n", "\n"))

    def _compiled_modules(self) -> set[str]:
        if self._compiled is None:
            found = [file for file in self._files if file.endswith(_COMPILED) and "__pycache__" not in file]
            self._compiled = {os.path.join(os.path.dirname(f), os.path.basename(f).partition(".")[0]) for f in found}
        return self._compiled
