"""The modules of a source that a training script can import, by name, on any way."""

from __future__ import annotations

import os
from collections.abc import Mapping

from smspec.pipeline.script_source import ProgramSource
from smspec.script.reach import Reach
from smspec.script.script_files import names_imported
from smspec.source.frozen import dataclass

MOST_MODULES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnModule:
    """A file of the source, by its path there. ``name``: its full name, empty for the script itself.

    ``is_certain``: every run imports it. ``written``: its path as the author would type it.
    """

    path: str
    name: str
    written: str
    is_certain: bool


def reachable_modules(reach: Reach, files: Mapping[str, str], directory: str, *, is_handler: bool) -> list[OwnModule]:
    """Return the script and what it can import, the script first, in the order of the imports.

    ``files``: the path of each on this machine, by its path in the source. ``directory``: that of the source, as the
    author names it. Raise OSError.
    """
    source = ProgramSource(dict(files), directory, reach.places, searches=False)
    paths = {source.name_of(path): path for path in files}
    certain = [paths[text.name] for text in reach.texts if text.name in paths]
    found: dict[str, OwnModule] = {}
    rest = [(path, None if is_handler or number else "") for number, path in enumerate(certain)]
    while rest and len(found) < MOST_MODULES:
        path, known = rest.pop(0)
        if path in found:
            continue
        name = _name(path, reach.places) if known is None else known
        found[path] = OwnModule(path=path, name=name, written=source.name_of(path), is_certain=path in certain)
        text = source.text(path)
        if text is None:
            continue
        package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
        for imported in dict.fromkeys(names_imported(text.text, package)):
            file = source.file_of(imported, reach.places)
            if file is not None and file not in found:
                rest.append((file, imported))
    return list(found.values())


def _name(path: str, places: tuple[str, ...]) -> str:
    """Return the full name of a module, from the longest directory that Python searches."""
    above = max((place for place in places if path.startswith(os.path.join(place, ""))), key=len, default="")
    return os.path.relpath(path, above or ".").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
