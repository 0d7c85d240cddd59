"""What AWS documents of its launchers: instance types, and the last version of a framework."""

from __future__ import annotations

from functools import cache

from smspec.service.facts.table import table
from smspec.source.frozen import dataclass

_NAME = "launchers"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedLauncher:
    """``last_version``: of PyTorch. ``as_of`` ends a sentence about what may have changed since."""

    types: frozenset[str]
    last_version: tuple[int, ...]
    as_of: str


@cache
def documented_launcher(name: str) -> DocumentedLauncher:
    """Return what AWS documents of a launcher of the table."""
    (row,) = table(_NAME).rows(name)
    return DocumentedLauncher(
        types=frozenset(row["types"].split()),
        last_version=tuple(map(int, row["last_version"].split("."))),
        as_of=table(_NAME).as_of,
    )
