"""Local runs that are over: the directories of runs below one, and what their markers and summaries say.

A run may have replaced its summary, and a pull request may have added one: every value is checked where it is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from smspec.local.running.run_directory import SUMMARY
from smspec.render.tree import RUN_MARKER, is_run_marker, marker_in
from smspec.service.shapes import structure
from smspec.source.frozen import dataclass
from smspec.source.real_file import open_below

_LARGEST = 32 << 20
"""Bytes of a summary that are read: metrics have 500 values per host."""

_MOST_LEVELS = 32
"""Of a summary; those of a request are fewer."""

_MOST_DIRECTORIES = 50_000
_DEEPEST = 16
_NEVER_SEARCHED = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """``job``: the name of the job in SageMaker; ``status``: that of the marker. ``summary``: of summary.json; empty
    for a run that has not ended. ``modified``: when the marker was written, in seconds since 1970.
    """

    directory: str
    job: str
    status: str
    summary: Mapping[str, object]
    modified: float


class RunSearch:
    """Searches directories for runs. ``is_whole`` False: there are more directories than are searched."""

    def __init__(self) -> None:
        self._left = _MOST_DIRECTORIES
        self._seen: set[str] = set()
        self.is_whole = True

    def below(self, root: str) -> Iterator[PastRun]:
        """Yield the runs below a directory, and the one that it is of; no link is followed, and none comes twice."""
        ahead = [(root, 0)]
        while ahead:
            place, depth = ahead.pop()
            self._left -= 1
            if self._left < 0:
                self.is_whole = False
                return
            found = past_run(place)
            if found is not None:
                real = os.path.realpath(place)
                if real not in self._seen:
                    self._seen.add(real)
                    yield found
                continue
            if depth < _DEEPEST:
                ahead += [(os.path.join(place, name), depth + 1) for name in _directories(place)]


def _directories(place: str) -> list[str]:
    names: list[str] = []
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):
                is_searched = not entry.name.startswith(".") and entry.name not in _NEVER_SEARCHED
                if is_searched and entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
    return sorted(names, reverse=True)


def past_run(directory: str) -> PastRun | None:
    """Return the run whose directory this is; None for any other directory."""
    content = marker_in(directory)
    if not is_run_marker(content):
        return None
    marker = json.loads(content)
    try:
        modified = os.lstat(os.path.join(directory, RUN_MARKER)).st_mtime
    except OSError:
        modified = 0.0
    return PastRun(
        directory=os.path.normpath(directory),
        job=str(marker.get("job") or ""),
        status=str(marker.get("status") or ""),
        summary=_summary(directory),
        modified=modified,
    )


def _summary(directory: str) -> Mapping[str, object]:
    try:
        with open(open_below(directory, (SUMMARY,)), "rb") as file:
            content = file.read(_LARGEST + 1)
        # NaN is not JSON, and would get into what the history prints as JSON.
        summary = json.loads(content, parse_constant=lambda _: None) if len(content) <= _LARGEST else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return {} if _has_more_levels(summary, _MOST_LEVELS) else structure(summary)


def _has_more_levels(value: object, most: int) -> bool:
    """Return whether a value of JSON is nested more deeply than what reads it can follow."""
    level = [value]
    for _ in range(most):
        level = [below for each in level for below in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
