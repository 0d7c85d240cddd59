"""Read all text files of a source, for the few jobs that are compared with what the source mentions."""

from __future__ import annotations

import os

from smspec.pipeline.script_source import ProgramSource
from smspec.source import Document, Mapping, Path, Scalar, SourceText
from smspec.source.listing import Listing

MOST_FILES = 400
MOST_CHARACTERS = 3_000_000
"""A larger source is not searched: what it does not mention is unknown then."""

_PROGRAMS = (".egg", ".jar", ".pyc", ".pyd", ".so", ".tar", ".tgz", ".whl", ".zip", ".gz")
"""Files that may contain code of the author, but not as text."""

_COMPARED = (("metrics",), ("checkpoints",), ("entry_point", "command"))
"""Keys of a spec that are compared with the texts of the source."""


def compares_source(document: Document) -> bool:
    """Return whether a spec has any key that is compared with the texts of its source."""
    if any(document.node(path) is not None for path in _COMPARED):
        return True
    channels = document.node(("channels",))
    names = [key.text for key, _ in channels.entries] if isinstance(channels, Mapping) else []
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
