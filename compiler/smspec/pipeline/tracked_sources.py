"""What decides, besides the files that git tracks, about the files of a source that are sent."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice, takewhile

from smspec.workspace.ignore_rules import IGNORE_FILES, MARKS_OF_ENVIRONMENTS
from smspec.workspace.path_targets import directories_of
from smspec.workspace.source_walk import MARKERS

_DECIDING = frozenset({*IGNORE_FILES, *MARKERS, *MARKS_OF_ENVIRONMENTS, ".git"})


class TrackedSources:
    """Sources in a repository at ``top``. ``files`` and ``directories``: the places of those that git tracks."""

    def __init__(self, top: str, files: Collection[str], directories: Collection[str]) -> None:
        self._top = top
        self._files = files
        self._directories = directories
        self.strays: list[str] = []
        """The places of what a search finds, and git does not track, and of directories, with `/`, that it skips."""

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self._directories)

    @cached_property
    def _strays(self) -> list[str]:
        return sorted(self.strays)

    @cached_property
    def _skipped(self) -> frozenset[str]:
        return frozenset(stray for stray in self.strays if stray.endswith("/"))

    def has_strays(self, place: str) -> bool:
        """Return whether a search found strays in a directory, or skipped it."""
        if not place:
            return bool(self.strays)
        number = bisect_left(self._strays, f"{place}/")
        if any(stray.startswith(f"{place}/") for stray in self._strays[number : number + 1]):
            return True
        return not self._skipped.isdisjoint(f"{above}/" for above in directories_of(place))

    def are_decided_here(self, place: str) -> bool:
        """Return whether something that git does not track decides which tracked files of a source are sent."""
        start = f"{place}/" if place else ""
        number = bisect_left(self._ordered, start)
        below = takewhile(lambda one: one.startswith(start), islice(self._ordered, number, None))
        return any(
            inside not in self._files and inside not in self._directories
            for directory in {"", place, *directories_of(place), *below}
            for name in os.listdir(os.path.join(self._top, directory))
            if name.lower() in _DECIDING and (inside := f"{directory}/{name}" if directory else name) != ".git"
        )


def directories_above(places: Iterable[str]) -> set[str]:
    """Return the directories above some places."""
    found: set[str] = set()
    for place in places:
        while (place := place.rpartition("/")[0]) not in found:
            found.add(place)
    return found
