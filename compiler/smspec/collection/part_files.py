"""Which files are the parts that the hosts of a job wrote of one result.

Their names contain that of a host: SageMaker merges the directories of all hosts, and ``algo-N``, unlike a number, is
never part of other names. A missing part is an error, because a result without the rows of a host looks like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.collection.faults import MergeFailed
from smspec.source.frozen import dataclass

_HOST = re.compile(r"(?<![A-Za-z0-9])algo-([1-9][0-9]{0,4})(?![A-Za-z0-9])")
_SEPARATORS = "-_."


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFiles:
    """``merged``: the path of the whole; ``parts``: the paths of its parts, in the order of their hosts."""

    merged: str
    parts: tuple[str, ...]


def part_files(paths: Iterable[str], hosts: int) -> tuple[PartFiles, ...]:
    """Return the results that consist of parts, by path.

    All hosts' /opt/ml/model become one archive, so each host names its files after itself. Paths that differ only in
    the host's name, `part-algo-1.csv` or `algo-1/part.csv`, are parts of the path without it, `part.csv`. A single
    file with the name of a host is a part only if the job has one host. ``hosts`` 0: unknown.

    Raise `MergeFailed` if the part of a host is missing.
    """
    groups: dict[str, dict[int, str]] = {}
    for path in paths:
        found = _HOST.search(path)
        if found is not None:
            groups.setdefault(_without(path, found), {})[int(found[1])] = path
    results = []
    for merged, parts in sorted(groups.items()):
        if len(parts) == 1 and hosts != 1:
            continue
        missing = sorted(set(range(1, (hosts or max(parts)) + 1)) - parts.keys())
        if missing:
            names = ", ".join(f"algo-{number}" for number in missing[:5])
            example = parts[min(parts)]
            raise MergeFailed(f"no part of {names} belongs to `{example}`, so the result would lack its rows")
        results.append(PartFiles(merged=merged, parts=tuple(parts[number] for number in sorted(parts))))
    return tuple(results)


def _without(path: str, found: re.Match[str]) -> str:
    """Return a path without the name of the host, and without one separator beside it."""
    before, after = path[: found.start()], path[found.end() :]
    if (not before or before.endswith("/")) and after.startswith("/"):
        return before + after[1:]
    if before and before[-1] in _SEPARATORS:
        before = before[:-1]
    elif after and after[0] in "-_":
        after = after[1:]
    name = (before + after).rpartition("/")[2]
    return before + after if name and not name.startswith(".") else f"{before}merged{after}"
