"""Training starts from scratch, or from different checkpoints.

A new TrainingJobName alone is no restart: any changed hyperparameter changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair
from smspec.service.members import structure


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield what prevents a job from resuming the previous one."""
    for leaf in pair.leaves_of(KIND.name):
        if leaf.at[-1] == "S3Uri":
            yield pair.at_leaf(KIND.name, leaf, _prefix(leaf.old, leaf.new), brief="checkpoints")
        elif structure(pair.old.payload, "CheckpointConfig") and structure(pair.new.payload, "CheckpointConfig"):
            what = (
                "checkpoints lie at another path in the container: a program that looks at the old one starts at zero"
            )
            yield pair.at_leaf(KIND.name, leaf, what, brief="checkpoints")
    if pair.old.job_name == pair.new.job_name or not (pair.old.job_name and pair.new.job_name):
        return  # an exact name that stays, while `name` is not its stem; or a request that leaves it open
    if _has_the_same_checkpoints(pair):
        return  # it resumes from them, whatever its name
    if pair.old.name != pair.new.name:
        what = "another name: a new job, which shares nothing with the old one but what both name"
        is_spec = pair.old.request is not None or pair.new.request is not None
        where = ("name",) if is_spec else ("TrainingJobName",)
        yield pair.change(KIND.name, where, what, old=pair.old.name, new=pair.new.name, brief="name")
    elif ("job_name",) in (_named_by(pair.old), _named_by(pair.new)):
        what = "another name: a new job"
        names = pair.old.job_name, pair.new.job_name
        yield pair.change(KIND.name, ("job_name",), what, old=names[0], new=names[1], brief="name")


def _has_the_same_checkpoints(pair: Pair) -> bool:
    old, new = (structure(version.payload, "CheckpointConfig") for version in (pair.old, pair.new))
    return bool(old) and old == new


def _named_by(version: object) -> object:
    origin = getattr(version, "origin", None)
    return origin(("TrainingJobName",)) if origin else ()


def _prefix(old: object, new: object) -> str:
    if new is None:
        return "checkpoints are no longer kept: training starts at zero, also after an interruption"
    if old is None:
        return "checkpoints are kept now: training goes on from what lies there, if anything does"
    return "other checkpoints: training starts at zero, unless some lie there"


def verdict(changes: Sequence[Change]) -> str:
    if all(change.old is None for change in changes):
        return "keeps checkpoints now"  # what they contain is unknown here
    return f"starts from scratch{subjects(changes)}"


KIND = Kind(
    name="restart",
    meaning="training starts from scratch: the checkpoint prefix changed, or the job has a new name and does not "
    "share its checkpoints",
    changes=changes,
    verdict=verdict,
)
