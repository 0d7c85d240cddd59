"""Import `hosts` from ResourceConfig."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.imported_keys import take
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.spec.keys import ROW


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the hosts.

    If the request sets only members without a key, write an empty key, because a job requires it.
    """
    if rest.has("ResourceConfig"):
        yield "hosts", take(rest, ROW["hosts"]) or {}
