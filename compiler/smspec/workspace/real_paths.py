"""Paths with their links resolved; each directory is looked at once: the files of a repository share them."""

from __future__ import annotations

import os
import stat


class RealPaths:
    """Returns what `os.path.realpath` does, for one state of the disk."""

    __slots__ = ("_is_link",)

    def __init__(self) -> None:
        self._is_link: dict[str, bool] = {}

    def of(self, path: str) -> str:
        """Return the real path of ``path``, which need not exist."""
        if path.startswith("//"):
            return os.path.realpath(path)  # POSIX lets a system give this a meaning of its own
        real = "" if path.startswith(os.sep) else os.getcwd()  # the system's name of it has no links
        for step in path.split(os.sep):
            if step == os.pardir:
                real = real.rpartition(os.sep)[0]
            elif step and step != os.curdir:
                real = f"{real}{os.sep}{step}" if real != os.sep else f"{real}{step}"
                if real not in self._is_link:
                    self._is_link[real] = _is_link(real)
                if self._is_link[real]:
                    return os.path.realpath(path)
        return real or os.sep


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):  # ValueError: no file can have the name
        return False
