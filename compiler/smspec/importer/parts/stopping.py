"""Import `stopping` and `spot`."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics.quoting import duration
from smspec.importer.imported_keys import taken
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.plan.request_planning import ONE_DAY
from smspec.spec.keys import rows_below

_HERE = "StoppingCondition"
_SPOT = "EnableManagedSpotTraining"


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the time limits, and managed spot training if the request enables it."""
    yield from _stopping(rest)
    if rest.members.get(_SPOT) is True:
        del rest.members[_SPOT]
        yield "spot", taken(rest, rows_below("spot"))


def _stopping(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    limits = rest.members.get(_HERE)
    if isinstance(limits, dict):
        if not limits:
            del rest.members[_HERE]
        written = taken(rest, rows_below("stopping"))
        # Do not write what is the default.
        if written != {"max_runtime": duration(ONE_DAY)}:
            yield "stopping", written
    elif limits is None:
        rest.refuse(_HERE)
