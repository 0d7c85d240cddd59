"""The changes for a new or a removed job, which have no other version to compare with."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.change import Change
from smspec.review.kinds import job, security
from smspec.review.kinds.cost import ceiling_change
from smspec.review.version import Version
from smspec.review.version_pair import Pair, paired
from smspec.service.cost_ceiling import highest_ceiling
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import replace


def added_changes(new: Version, prices: PriceBook) -> tuple[Change, ...]:
    """Return the changes for a new job: the job itself, access, and its cost ceiling, not each of its keys."""
    return tuple(_added_changes(new, prices))


def removed_changes(old: Version, prices: PriceBook) -> tuple[Change, ...]:
    """Return the change for a removed job."""
    pair = paired(old, old, prices)
    return (pair.change(job.KIND.name, ("name",), "the job is gone", old=old.job_name),)


def _added_changes(new: Version, prices: PriceBook) -> Iterator[Change]:
    nothing = replace(new, payload={}, layers=None, image_tag=None, code=None, request=None, writing=None, others=())
    pair: Pair = paired(nothing, new, prices)
    yield pair.change(job.KIND.name, ("name",), "the job is new", new=new.job_name)
    yield from security.KIND.changes(pair, ())
    ceiling = highest_ceiling(new.payloads, prices, new.region)
    if ceiling is not None:
        yield ceiling_change(pair, None, ceiling)
