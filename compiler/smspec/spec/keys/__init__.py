"""The table of keys: one row for each key of the spec, in the order of docs/spec-reference.md.

A `Row` has the path of a key, the form of its value, the member of the request, its kind of change, and its names in
other tools. Code that reads, sends, imports, compares, or explains keys uses the table; what is irregular about a key
is a function there. The table must not know how a request or a plan is made: a row only names the member.
"""

from __future__ import annotations

from functools import lru_cache

from smspec.source import Path
from smspec.spec.keys import data, hosts, image, job
from smspec.spec.keys.row import Row, ValueForm

ROWS: tuple[Row, ...] = (
    *job.FIRST,
    *image.IMAGE,
    *data.CHANNELS,
    *hosts.HOSTS,
    *image.PARAMETERS,
    *hosts.LIMITS,
    *data.RESULTS,
    *hosts.NETWORK,
    *job.LAST,
)
ROW: dict[str, Row] = {row.path: row for row in ROWS}


@lru_cache(maxsize=1)
def _below() -> dict[str, tuple[Row, ...]]:
    found: dict[str, list[Row]] = {}
    for row in ROWS:
        found.setdefault(row.path.rpartition(".")[0], []).append(row)
    return {path: tuple(rows) for path, rows in found.items()}


def rows_below(path: str) -> tuple[Row, ...]:
    """Return the rows of the keys directly below a key; those of a whole job for an empty path."""
    return _below().get(path, ())


@lru_cache(maxsize=1)
def rows_by_member() -> dict[Path, tuple[Row, ...]]:
    """Return the rows for each place of a request.

    A structure of which only one member has a key, such as RetryStrategy, belongs to that key as a whole.
    """
    members: dict[Path, list[Row]] = {}
    around: dict[Path, list[Row]] = {}
    for row in ROWS:
        if row.member:
            members.setdefault(row.steps, []).append(row)
            around.setdefault(row.steps[:-1], []).append(row)
    for structure, rows in around.items():
        is_one = len(rows) == 1 and isinstance(rows[0].form, ValueForm)
        if is_one and structure and structure not in members and structure[-1] != "*":
            members[structure] = rows
    return {path: tuple(rows) for path, rows in members.items()}
