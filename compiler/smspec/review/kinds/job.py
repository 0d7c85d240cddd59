"""Whether it is still the same job: SageMaker identifies jobs by name, and accepts each name once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind
from smspec.review.request_differences import reordered
from smspec.review.version_pair import Pair
from smspec.service.members import structure

AT_ZERO = "a new job; it keeps no checkpoints, so it starts at zero"

_ORDER_THAT_COUNTS = (
    ("InputDataConfig",),
    ("AlgorithmSpecification", "MetricDefinitions"),
    ("ResourceConfig", "InstanceGroups"),
)


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield that the name changed, which makes a new job, or that it did not although the request did."""
    for path in reordered(pair.old.payload, pair.new.payload):
        if path in _ORDER_THAT_COUNTS:
            yield pair.change(KIND.name, pair.new.origin(path) or path, "in another order, which is another request")
    old, new = pair.old.job_name, pair.new.job_name
    if not old or not new:
        return  # a request that leaves its name to the sender
    if old != new:
        keeps = bool(structure(pair.new.payload, "CheckpointConfig"))
        what = "a new job" if keeps else AT_ZERO
        yield pair.change(
            KIND.name, pair.new.origin(("TrainingJobName",)) or ("TrainingJobName",), what, old=old, new=new
        )
    elif _is_requested_otherwise(pair):
        what = "the request changed and the name did not: SageMaker takes a name once"
        yield pair.change(
            KIND.name, pair.new.origin(("TrainingJobName",)) or ("TrainingJobName",), what, old=old, new=new
        )


def _is_requested_otherwise(pair: Pair) -> bool:
    """Return whether the requests differ in what a name is computed from; tags are not part of that."""
    return any(leaf.at[0] != "Tags" for leaf in pair.leaves)


def verdict(changes: Sequence[Change]) -> str:
    if any(change.new is None and change.old is not None for change in changes):
        return "is gone"
    if all(change.old == change.new for change in changes):
        return "is another request under the same name"
    return "is a new job"


KIND = Kind(
    name="job",
    meaning="a job was added or removed, has a different TrainingJobName, or sends a different request under the "
    "same name",
    changes=changes,
    verdict=verdict,
)
