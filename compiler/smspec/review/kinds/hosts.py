"""The instances of the job, their location, and the processes on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.alternatives import added_and_removed, of_alternatives
from smspec.review.change import Change
from smspec.review.change_descriptions import by_member
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    yield from by_member(pair, KIND.name)
    yield from of_alternatives(pair, KIND.name)
    yield from added_and_removed(pair, KIND.name)
    launchers = [(old, new) for item, old, new in pair.starts() if item.name == "launcher"]
    for old, new in (*launchers, *((old, new) for _, old, new in pair.settings("launcher"))):
        yield pair.change(KIND.name, ("distribution",), "how processes are started", old=old, new=new, brief="launcher")
    old_region, new_region = pair.old.region, pair.new.region
    if old_region != new_region and _are_known(pair):
        what = "region that the job runs in"
        yield pair.change(KIND.name, ("region",), what, old=old_region, new=new_region, brief="region")


def _are_known(pair: Pair) -> bool:
    """Return whether both regions are known; a spec without one leaves it to the submission."""
    are_specs = pair.old.request is not None and pair.new.request is not None
    return are_specs or (pair.old.region is not None and pair.new.region is not None)


def verdict(changes: Sequence[Change]) -> str:
    return f"changes hosts{subjects(changes)}"


KIND = Kind(
    name="hosts",
    meaning="instance type, count, groups, volume, keep-alive, region, maximum wait for instances, and how "
    "processes start",
    changes=changes,
    verdict=verdict,
)
