"""The changes that a new job brings, or a removed one: there is no other version to compare it with."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.change import Change
from smspec.review.cost_ceiling import ceiling_of
from smspec.review.kinds import job, security
from smspec.review.kinds.cost import ceiling_change
from smspec.review.prices import Prices
from smspec.review.version import Version
from smspec.review.version_pair import Pair, paired
from smspec.source.frozen import replace


def added_changes(new: Version, prices: Prices) -> tuple[Change, ...]:
    """Return what a new job brings: itself, access, and what it can cost. Not each of its keys."""
    return tuple(_added_changes(new, prices))


def removed_changes(old: Version, prices: Prices) -> tuple[Change, ...]:
    """Return the change that a job is gone."""
    pair = paired(old, old, prices)
    return (pair.change(job.KIND.name, ("name",), "the job is gone", old=old.job_name),)


def _added_changes(new: Version, prices: Prices) -> Iterator[Change]:
    nothing = replace(new, payload={}, layers=None, image_tag=None, code=None, request=None, writing=None)
    pair: Pair = paired(nothing, new, prices)
    yield pair.change(job.KIND.name, ("name",), "the job is new", new=new.job_name)
    yield from security.KIND.changes(pair, ())
    ceiling = ceiling_of(new.payload, prices)
    if ceiling is not None:
        yield ceiling_change(pair, None, ceiling)
