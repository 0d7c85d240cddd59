"""What is irregular about taking a key out of a request; all others are taken as the table says.

A part takes only what its keys say exactly, and gives the keys that it writes for that.
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
"""Key at the top of a spec → what takes it, with those next to it that depend on it."""
