"""Keeps the runtime's own imports out of the author's directories.

A code directory may hold ``json.py`` or ``site.py``; it may be the current directory or stand in PYTHONPATH. What the
runtime imports comes from the standard library all the same. This module imports what Python has loaded by itself.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List


class StandardLibraryOnly:
    """While entered, modules are found in the standard library and nowhere else; submodules as ever."""

    def __enter__(self) -> None:
        self._before = list(sys.path)
        sys.path[:] = [entry for entry in sys.path if _is_standard_library(entry)]

    def __exit__(self, *_: object) -> None:
        sys.path[:] = self._before


def standard_library_first(path: "List[str]", code: str) -> "List[str]":
    """Return an import path with the standard library in front and without the current and the code directory."""
    avoided = {"", os.path.abspath(code), os.path.realpath(code)}
    try:
        avoided.add(os.getcwd())
    except OSError:
        pass  # The current directory is gone; then nothing can be imported from it.
    own = [entry for entry in path if _is_standard_library(entry)]
    return own + [entry for entry in path if entry not in own and entry not in avoided]


def _is_standard_library(entry: str) -> bool:
    library = os.path.dirname(os.__file__)
    if entry == library or os.path.basename(entry) == "lib-dynload":
        return True
    return entry.endswith(".zip") and os.path.dirname(entry) == os.path.dirname(library)
