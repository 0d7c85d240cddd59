"""The changes of alternatives after the first: the rest of their requests is that of the first."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.plan.plan import RequestPlan
from smspec.review.change import Change
from smspec.review.change_descriptions import by_member
from smspec.review.version import Version
from smspec.review.version_pair import Pair, paired
from smspec.service.job_costs import hosts_text
from smspec.source import Path
from smspec.source.frozen import replace
from smspec.spec.layers.merging import ANY_OF


def of_alternatives(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield the changes of a kind in alternatives that both states have, without those of the first."""
    for index, (old, new) in enumerate(zip(pair.old.others, pair.new.others, strict=False), 1):
        both = paired(_alone(pair.old, old), _alone(pair.new, new), pair.prices)
        own = replace(both, leaves=tuple(leaf for leaf in both.leaves if leaf not in pair.leaves))
        for change in by_member(own, kind):
            yield replace(change, what=f"{change.what} of alternative {index + 1}")


def added_and_removed(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield the alternatives that one of two specs lacks."""
    if pair.old.request is None or pair.new.request is None:
        return  # a request says nothing about alternatives
    old, new = pair.old.others, pair.new.others
    for index in range(min(len(old), len(new)), max(len(old), len(new))):
        here: Path = (*ANY_OF, index + 1)
        was, will = (hosts_text(side[index].payload) if index < len(side) else None for side in (old, new))
        is_new = was is None
        what = f"alternative {index + 2} is {'new' if is_new else 'gone'}"
        yield pair.change(kind, here, what, old=was, new=will, brief="alternatives")


def _alone(version: Version, request: RequestPlan) -> Version:
    return replace(version, payload=request.payload, request=request, others=())
