"""Modules that a script imports, and that are next to it on this machine, but not among the files that are sent."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from smspec.pipeline.script_source import candidates
from smspec.script.reach import ForeignImport, IgnoredModule, MissingModule, Reach
from smspec.source.frozen import replace
from smspec.workspace.ignore_rules import IgnoreRules, TooManyPatterns


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
