"""`hosts`: ResourceConfig."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.imported_keys import take
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.spec.keys import ROW


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Take the hosts. Where the request says only what has no key, the key stands there empty: a job needs it."""
    if rest.has("ResourceConfig"):
        yield "hosts", take(rest, ROW["hosts"]) or {}
