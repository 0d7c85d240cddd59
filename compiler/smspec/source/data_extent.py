"""How much data a directory contains."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DataExtent:
    """The number of files below a path, and their size in bytes."""

    files: int
    bytes: int
