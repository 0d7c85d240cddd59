"""A job that is new, or gone: what there is to say when there is nothing to compare it with."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.ceiling import ceiling_of
from smspec.review.change import Change
from smspec.review.kinds import job, security
from smspec.review.kinds.cost import ceiling_change
from smspec.review.pair import Pair, paired
from smspec.review.prices import Prices
from smspec.review.version import Version
from smspec.source.frozen import replace


def appeared(new: Version, prices: Prices) -> tuple[Change, ...]:
    """Return what a new job brings: itself, access, and what it can cost. Not each of its keys."""
    return tuple(_appeared(new, prices))


def disappeared(old: Version, prices: Prices) -> tuple[Change, ...]:
    """Return that a job is gone."""
    pair = paired(old, old, prices)
    return (pair.change(job.KIND.name, ("name",), "the job is gone", old=old.job_name),)


def _appeared(new: Version, prices: Prices) -> Iterator[Change]:
    nothing = replace(new, payload={}, layers=None, image_tag=None, code=None, request=None, writing=None)
    pair: Pair = paired(nothing, new, prices)
    yield pair.change(job.KIND.name, ("name",), "the job is new", new=new.job_name)
    yield from security.KIND.changes(pair, ())
    ceiling = ceiling_of(new.payload, prices)
    if ceiling is not None:
        yield ceiling_change(pair, None, ceiling)
