"""The names of the jobs of all alternatives, in their order."""

from __future__ import annotations

from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAlternatives:
    """``names`` are the names in the requests, ``paths`` the alternatives in the spec.

    ``named_at`` is the key with which the author names the job; empty if its name is derived from its content.
    """

    names: tuple[str, ...]
    paths: tuple[Path, ...]
    named_at: Path = ()
