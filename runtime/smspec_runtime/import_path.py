"""Keeps our imports out of the author's directories. Imports what is loaded."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List


class StandardLibraryOnly:
    """In this context, only submodules are found elsewhere."""

    def __enter__(self) -> None:
        self._before = list(sys.path)
        sys.path[:] = [entry for entry in sys.path if _is_standard_library(entry)]

    def __exit__(self, *_: object) -> None:
        sys.path[:] = self._before


def standard_library_first(path: "List[str]", code: str) -> "List[str]":
    """Without the current and the code directory."""
    avoided = {"", os.path.abspath(code), os.path.realpath(code)}
    try:
        avoided.add(os.getcwd())
    except OSError:
        pass
    own = [entry for entry in path if _is_standard_library(entry)]
    return own + [entry for entry in path if entry not in own and entry not in avoided]


def _is_standard_library(entry: str) -> bool:
    library = os.path.dirname(os.__file__)
    parent, name = os.path.split(entry)
    return entry == library or name == "lib-dynload" or (name.endswith(".zip") and parent == os.path.dirname(library))
