"""The functions that import irregular keys of a request; all others are imported as the table of keys defines.

A part imports only what its keys express exactly, and returns the keys that it writes for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.importer.parts import algorithm, channels, hosts, hyperparameters, stopping, tags
from smspec.importer.unmapped_members import UnmappedMembers

Part = Callable[[UnmappedMembers], Iterator["tuple[str, object]"]]

PARTS: dict[str, Part] = {
    "image": algorithm.keys,
    "channels": channels.keys,
    "hosts": hosts.keys,
    "hyperparameters": hyperparameters.keys,
    "stopping": stopping.keys,
    "tags": tags.keys,
}
"""Top-level key of a spec → the function that imports it, and adjacent keys that depend on it."""
