"""Whether it is still the same job with the same training: its name, its checkpoints, or only the spelling of its spec.

SageMaker identifies jobs by name, and accepts each name once. A new TrainingJobName alone is no restart: any changed
hyperparameter changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change, quoted
from smspec.review.kinds.kind import Kind, listing, subjects
from smspec.review.kinds.members import is_of_local_data
from smspec.review.kinds.software import IGNORED
from smspec.review.request_differences import reordered
from smspec.review.version import Pair
from smspec.service.shapes import member, structure
from smspec.source import Mapping, Node, Path, Scalar, dotted, is_near, to_data
from smspec.source import Sequence as SequenceNode

AT_ZERO = "a new job; it keeps no checkpoints, so it starts at zero"

LAYOUT = "layout"
"""The brief word of a change of only the text."""

_ORDER_THAT_COUNTS = (
    ("InputDataConfig",),
    ("AlgorithmSpecification", "MetricDefinitions"),
    ("ResourceConfig", "InstanceGroups"),
)
_TRAINING_DEPENDS_ON = ("hyperparameters", "code", "image", "data", "environment")
_MEANINGLESS = ("description", "checks", "vars", "overlays")
_NAME = ("TrainingJobName",)
_CHECKPOINTS = ("CheckpointConfig", "S3Uri")
_KEPT_NOW = "checkpoints are kept now: training goes on from what lies there, if anything does"


def _job_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield that the name changed, which makes a new job, or that it did not although the request did."""
    for path in reordered(pair.old.payload, pair.new.payload):
        if path in _ORDER_THAT_COUNTS:
            yield pair.change(JOB.name, pair.new.origin(path) or path, "in another order, which is another request")
    old, new = pair.old.job_name, pair.new.job_name
    if not old or not new:
        return  # a request that leaves its name to the sender
    if old != new:
        keeps = bool(structure(pair.new.payload, "CheckpointConfig"))
        what = "a new job" if keeps else AT_ZERO
        yield pair.change(JOB.name, pair.new.origin(_NAME) or _NAME, what, old=old, new=new)
    elif any(leaf.at[0] != "Tags" for leaf in pair.leaves):  # a name is not computed from tags
        what = "the request changed and the name did not: SageMaker takes a name once"
        yield pair.change(JOB.name, pair.new.origin(_NAME) or _NAME, what, old=old, new=new)


def _job_verdict(changes: Sequence[Change]) -> str:
    if any(change.new is None and change.old is not None for change in changes):
        return "is gone"
    if all(change.old == change.new for change in changes):
        return "is another request under the same name"
    return "is a new job"


JOB = Kind(
    name="job",
    meaning="a job was added or removed, has a different TrainingJobName, or sends a different request under the "
    "same name",
    changes=_job_changes,
    verdict=_job_verdict,
)


def _restart_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield what prevents a job from resuming the previous one."""
    for leaf in pair.leaves_of(RESTART.name):
        if leaf.at[-1] == "S3Uri":
            yield pair.at_leaf(RESTART.name, leaf, _checkpoints_words(leaf.old, leaf.new), brief="checkpoints")
        else:
            kept = [bool(structure(side.payload, "CheckpointConfig")) for side in (pair.old, pair.new)]
            what = (
                "checkpoints lie at another path in the container: a program that looks at the old one starts at zero"
                if all(kept)
                else "where checkpoints lie in the container: what is in S3 is copied there before the job starts"
            )
            if kept[1]:
                yield pair.at_leaf(RESTART.name, leaf, what, brief="checkpoints")
    if pair.old.job_name == pair.new.job_name or not (pair.old.job_name and pair.new.job_name):
        return  # an exact name that stays, while `name` is not its stem; or a request that leaves it open
    if _has_the_same_checkpoints(pair):
        return  # it resumes from them, whatever its name
    if pair.old.name != pair.new.name:
        what = "another name: a new job, which shares nothing with the old one but what both name"
        is_spec = pair.old.request is not None or pair.new.request is not None
        where = ("name",) if is_spec else _NAME
        yield pair.change(RESTART.name, where, what, old=pair.old.name, new=pair.new.name, brief="name")
    elif ("job_name",) in (pair.old.origin(_NAME), pair.new.origin(_NAME)):
        what = "another name: a new job"
        names = pair.old.job_name, pair.new.job_name
        yield pair.change(RESTART.name, ("job_name",), what, old=names[0], new=names[1], brief="name")


def _has_the_same_checkpoints(pair: Pair) -> bool:
    old, new = (structure(version.payload, "CheckpointConfig") for version in (pair.old, pair.new))
    return bool(old) and old == new


def _checkpoints_words(old: object, new: object) -> str:
    if new is None:
        return "checkpoints are no longer kept: training starts at zero, also after an interruption"
    if old is None:
        return _KEPT_NOW
    return "other checkpoints: training starts at zero, unless some lie there"


def _restart_verdict(changes: Sequence[Change]) -> str:
    if all(change.old is None for change in changes) and any(change.what == _KEPT_NOW for change in changes):
        return "keeps checkpoints now"  # what they contain is unknown here
    return f"starts from scratch{subjects(changes)}"


RESTART = Kind(
    name="restart",
    meaning="training starts from scratch: the checkpoint prefix changed, or the job has a new name and does not "
    "share its checkpoints",
    changes=_restart_changes,
    verdict=_restart_verdict,
)


def _resume_changes(pair: Pair, reported: Sequence[Change]) -> Iterator[Change]:
    """Yield one change if both jobs have the same checkpoints and differ in something that training depends on."""
    old, new = (member(version.payload, *_CHECKPOINTS) for version in (pair.old, pair.new))
    depends = (
        change
        for change in reported
        if change.kind in _TRAINING_DEPENDS_ON and change.path != IGNORED and not is_of_local_data(change.path)
    )
    found = list(dict.fromkeys(change.kind for change in depends))
    if old is None or old != new or not found:
        return
    what = f"checkpoints of the old job are taken up with changed {_joined(found)}"
    path = pair.new.origin(_CHECKPOINTS) or _CHECKPOINTS
    yield pair.change(RESUME.name, path, what, old=old, new=new, brief=", ".join(found))


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


RESUME = Kind(
    name="resume",
    meaning="the checkpoint prefix stays, so training resumes from old checkpoints with changed hyperparameters, "
    "code, image, data, or environment",
    changes=_resume_changes,
    verdict=listing("resumes old checkpoints with changes"),
)


def _cosmetic_changes(pair: Pair, reported: Sequence[Change]) -> Iterator[Change]:
    """Yield what is written differently and has no effect that is already reported."""
    old, new = pair.old.writing, pair.new.writing
    if old is None or new is None or old.form is None or old.form != new.form:
        return  # a request is not a different way to write a spec, and a response of the service was not written
    explained = [change.path for change in reported if change.path]
    in_api = (side.key_in_api(leaf.at) for side in (pair.old, pair.new) for leaf in pair.leaves)
    explained += filter(None, in_api)
    explained += [("account",)] if ("image", "repository") in explained else []
    found = False
    for path, was, will in _differences(old.document.root, new.document.root, ()):
        if any(is_near(path, other) for other in explained):
            continue
        found = True
        values = [None if node is None else to_data(node) for node in (was, will)]
        what = "equivalent value" if None not in values and path != ("account",) else "has no effect"
        if path[0] in _MEANINGLESS or path[-1] in _MEANINGLESS:
            what = "reaches neither the request nor the image"
        if values[0] == values[1]:
            values = [_spelling(was), _spelling(will)]
        yield pair.change(COSMETIC.name, path, what, old=values[0], new=values[1], brief=quoted(dotted(path)))
    texts = [[text.text for text in writing.document.texts] for writing in (old, new)]
    if not found and not reported and texts[0] != texts[1]:
        yield pair.change(COSMETIC.name, (), "comments, order, layout, variables or overlays", brief=LAYOUT)


def _differences(old: Node | None, new: Node | None, path: Path) -> Iterator[tuple[Path, Node | None, Node | None]]:
    """Yield the smallest parts of two trees with different values or spellings."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before = {key.text: value for key, value in old.entries}
        after = {key.text: value for key, value in new.entries}
        for name in dict.fromkeys([*after, *before]):
            yield from _differences(before.get(name), after.get(name), (*path, name))
    elif not _is_same(old, new):
        yield path, old, new


def _is_same(old: Node | None, new: Node | None) -> bool:
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        return (old.text, type(old.value)) == (new.text, type(new.value))
    if isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
        pairs = zip(old.items, new.items, strict=False)
        return len(old.items) == len(new.items) and all(_is_same(a, b) for a, b in pairs)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return next(_differences(old, new, ()), None) is None
    return old is new


def _spelling(node: Node | None) -> object:
    return node.text if isinstance(node, Scalar) else None


COSMETIC = Kind(
    name="cosmetic",
    meaning="comments, order, spelling, `description`, `checks`, `rehearsal`, `vars`, `overlays`: generated "
    "files stay the same",
    changes=_cosmetic_changes,
    verdict=listing("cosmetic: same request, same image"),
)
