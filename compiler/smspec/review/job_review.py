"""The review of one spec: its changes on its own and with each overlay, in the order of the kinds, each once.

A new or a removed job has no other state to compare with.

Variables give values: two versions may be equal by the defaults, and different jobs with `--set`. What is compared is a
job with the defaults, and CI may submit it with others. So a value that is moved into a variable, or out of one, is a
change of its kind, also where the default is what was written before.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from smspec.diagnostics.quoting import hidden, without_tokens
from smspec.review.change import Change, ReportedChange, quoted, safe_change
from smspec.review.kinds import KINDS
from smspec.review.kinds.members import CEILING, ceiling_change
from smspec.review.kinds.same_job import JOB
from smspec.review.kinds.security import SECURITY, hidden_changes
from smspec.review.request_differences import meaning
from smspec.review.version import JobVersion, Pair, paired
from smspec.service.cost_ceiling import Ceiling, highest_ceiling
from smspec.service.job_costs import PriceBook
from smspec.service.request import LISTS_OF_RULES, Request
from smspec.service.shapes import member
from smspec.source import Path, dotted, to_data
from smspec.source.frozen import dataclass, replace
from smspec.spec.keys import ROWS
from smspec.spec.keys.row import KeyRow

IS_SETTABLE = "a variable sets it now, and `--set` may give that any value"
IS_SET_OTHERWISE = "a different variable sets it, and `--set` may give that any value"
IS_FIXED = "no variable sets it now, so `--set` does not"
_CEILING = "cost ceiling for any value of `--set`"
_WORDS = (IS_SETTABLE, IS_SET_OTHERWISE, IS_FIXED, _CEILING)

_MORE_KINDS = {
    "name": ("image",),
    "job_name": ("restart",),
    "account": ("image", "security"),
    "image.secrets.*.env": ("security",),
    "image.secrets.*.file": ("security",),
    "entry_point.command": ("image",),
    "region": ("image", "security"),
    "image": ("security",),
    "image.base": ("security",),
    "image.repository": ("security",),
    "source": ("image",),
    "source.dir": ("image",),
    "source.delivery": ("image",),
    "distribution": ("hosts",),
}
"""Kinds besides that of the key: the registry of an image is a part of its name, and the source a layer of it."""
_IN_THE_CEILING = (
    *("hosts.instance_type", "hosts.count", "hosts.groups", "hosts.any_of", "hosts.keep_alive", "region"),
)
_MEMBERS_IN_THE_CEILING = (
    *("ResourceConfig", "StoppingCondition", "RetryStrategy", "EnableManagedSpotTraining"),
    *LISTS_OF_RULES,
)
_OF_NO_EFFECT = ("", "cosmetic")
_SPACE = re.compile(r"\s+")


def settable_changes(pair: Pair) -> Iterator[Change]:
    """Yield the changes of what options can set, for each kind that the value has."""
    old, new = _settable(pair.old), _settable(pair.new)
    items = _items_with_variables(pair.old)
    only_moved = {around for around, found in _items_with_variables(pair.new).items() if items.get(around) == found}
    for path in dict.fromkeys([*new, *old]):
        was, will = old.get(path), new.get(path)
        if was is not None and will is not None and _SPACE.sub("", was) == _SPACE.sub("", will):
            continue
        if _list_around(path) in only_moved:
            continue
        what = IS_FIXED if will is None else IS_SETTABLE if was is None else IS_SET_OTHERWISE
        values = _written(pair.old, path, was), _written(pair.new, path, will)
        for kind in _kinds(path):
            is_ceiling = kind == "cost" and will is not None
            yield pair.change(
                kind,
                path,
                _CEILING if is_ceiling else what,
                old=values[0],
                new=values[1],
                brief=CEILING if is_ceiling else "",
            )


def is_of_variables(change: Change) -> bool:
    """Return whether a change is about what options can set, not about an effect with the defaults."""
    return change.what in _WORDS


def of_settable(changes: Sequence[Change]) -> str:
    """Return the phrase of a summary that names what options can set."""
    names = list(dict.fromkeys(quoted(dotted(change.path)) for change in changes))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"depends differently on `--set` ({', '.join(names[:3])}{more})"


def _settable(version: JobVersion) -> Mapping[Path, str]:
    """Return path → text; none of a request, which has no variables."""
    return {} if version.writing is None else dict(version.writing.document.settable)


def _items_with_variables(version: JobVersion) -> dict[Path, list[str]]:
    """Return, for each list, what identifies its items that have variables, wherever they are in it.

    An item is the same with all that is in it, and an argument with the one before it; of equal ones, the first is.
    """
    texts: dict[Path, dict[int, list[tuple[Path, str]]]] = {}
    for path, text in _settable(version).items():
        for depth, step in enumerate(path):
            if isinstance(step, int):
                texts.setdefault(path[:depth], {}).setdefault(step, []).append((path[depth + 1 :], text))
    found: dict[Path, list[str]] = {}
    for around, items in texts.items():
        written = _written(version, around)
        places = _places_among_equal(written if isinstance(written, list) else [])
        found[around] = sorted(repr((*places[number], sorted(own))) for number, own in items.items())
    return found


def _places_among_equal(values: list[object]) -> list[tuple[object, str, int]]:
    """Return each item of a list, the argument before it, and how many equal items are before it."""
    found: list[tuple[object, str, int]] = []
    numbers = Counter[tuple[str, str]]()
    for number, value in enumerate(values):
        before = str(values[number - 1]) if number and not isinstance(value, dict | list) else ""
        equal = str(value), before
        found.append((value, before, numbers[equal]))
        numbers[equal] += 1
    return found


def _list_around(path: Path) -> Path | None:
    """Return the path of the innermost list that a path leads through."""
    return next((path[:depth] for depth in range(len(path) - 1, -1, -1) if isinstance(path[depth], int)), None)


def _written(version: JobVersion, path: Path, text: str | None = None) -> object:
    """Return the text with variables, or the value where there are none."""
    if text is not None or version.writing is None:
        return text
    node = version.writing.document.node(path)
    return None if node is None else to_data(node)


def _kinds(path: Path) -> Iterator[str]:
    names = [str(step) for step in path]
    if names[0] == "api":
        yield from dict.fromkeys(("security", *meaning(path[1:]).kinds))
        if names[1] in _MEMBERS_IN_THE_CEILING:
            yield "cost"
        return
    if names[0] == "channels" and "api" in names:
        yield from dict.fromkeys(("data", *meaning(("InputDataConfig", "", *names[names.index("api") + 1 :])).kinds))
        return
    row = max((row for row in ROWS if _leads_to(row, names)), key=lambda row: row.path.count("."), default=None)
    if row is None or row.kind in _OF_NO_EFFECT:
        return
    yield row.kind
    yield from _MORE_KINDS.get(row.path, ())
    if row.path.startswith(_IN_THE_CEILING):
        yield "cost"


def _leads_to(row: KeyRow, names: list[str]) -> bool:
    steps = row.path.split(".")
    return len(steps) <= len(names) and all(step in ("*", name) for step, name in zip(steps, names, strict=False))


_OUTPUTS = {
    "model": ("OutputDataConfig", "S3OutputPath"),
    "checkpoints": ("CheckpointConfig", "S3Uri"),
    "tensorboard": ("TensorBoardOutputConfig", "S3OutputPath"),
}
Status = Literal["changed", "added", "removed", "moved"]


@dataclass(frozen=True, slots=True)
class Stream:
    """Data at ``place`` that a job reads or writes, under a name; ``how`` describes in which way."""

    comes_in: bool
    place: str
    name: str
    how: str


DataFlow = tuple[Stream, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReview:
    """``file``: the current path of the spec or request; ``old_file`` its previous path, if different.

    ``verdicts``: the summary for the spec on its own (None), and what an overlay adds. ``flows``: the data flow, old
    and new, if it changed. ``ceilings``: the cost ceilings, old and new, of the first variant that was compared.
    """

    name: str
    file: str
    old_file: str
    status: Status
    reported: tuple[ReportedChange, ...]
    verdicts: tuple[tuple[str | None, str], ...]
    flows: tuple[DataFlow, DataFlow] | None = None
    ceilings: tuple[Ceiling | None, Ceiling | None] = (None, None)

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(reported.change for reported in self.reported)


def job_review(
    name: str,
    file: str,
    old_file: str,
    status: Status,
    outcomes: Mapping[str | None, Sequence[Change]],
    flows: tuple[DataFlow, DataFlow] | None = None,
    ceilings: tuple[Ceiling | None, Ceiling | None] = (None, None),
) -> JobReview:
    """Collect the changes of a spec; ``outcomes`` has them on its own (None) and with each overlay."""
    outcomes = {overlay: [safe_change(change) for change in changes] for overlay, changes in outcomes.items()}
    found: dict[tuple[object, ...], list[str | None]] = {}
    first: dict[tuple[object, ...], Change] = {}
    for overlay, changes in outcomes.items():
        for change in changes:
            key = _key(change)
            first.setdefault(key, change)
            found.setdefault(key, []).append(overlay)
    reported = tuple(
        ReportedChange(
            change=first[key],
            as_is=None in overlays,
            overlays=tuple(without_tokens(overlay) for overlay in overlays if overlay is not None),
            is_everywhere=len(overlays) == len(outcomes),
        )
        for key, overlays in found.items()
    )
    return JobReview(
        name=without_tokens(name),
        file=file,
        old_file=old_file,
        status=status,
        reported=reported,
        verdicts=tuple(_verdicts(outcomes)),
        flows=flows,
        ceilings=ceilings,
    )


def _key(change: Change) -> tuple[object, ...]:
    """Return what identifies a change: the name of a job differs with each overlay."""
    values = None if change.kind == "job" else json.dumps([change.old, change.new], sort_keys=True)
    return change.kind, change.path, change.what, change.file, change.line, values


def _verdicts(outcomes: Mapping[str | None, Sequence[Change]]) -> Iterator[tuple[str | None, str]]:
    reported: set[tuple[object, ...]] = set()
    for overlay, changes in outcomes.items():
        more = [change for change in changes if _key(change) not in reported]
        reported |= {_key(change) for change in more}
        if more:
            # Only here, since two names may be the same without tokens.
            yield None if overlay is None else without_tokens(overlay), verdict(more)


def compared(old: JobVersion, new: JobVersion, prices: PriceBook) -> tuple[Change, ...]:
    """Return the changes between two states, without duplicates, in the order of `KINDS`."""
    pair = paired(old, new, prices)
    reported: list[Change] = []
    alike: dict[tuple[object, ...], list[Change]] = {}  # values may have no hash, and there may be thousands
    of_variables = list(settable_changes(pair))
    for kind in KINDS.values():
        for change in kind.changes(pair, tuple(reported)):
            known = alike.setdefault((change.kind, change.path, change.what), [])
            if change not in known:
                known.append(change)
                reported.append(change)
        reported += (each for each in of_variables if each.kind == kind.name)
    reported += hidden_changes(reported)
    order = list(KINDS)
    return tuple(sorted(reported, key=lambda change: order.index(change.kind)))


def verdict(changes: Sequence[Change]) -> str:
    """Return a one-line summary of changes; the effects of a new job name are listed among the others.

    For a new job that comes first: what follows is not a change.
    """
    of_variables = [change for change in changes if is_of_variables(change)]
    changes = [change for change in changes if not is_of_variables(change)]
    kinds = dict.fromkeys(change.kind for change in changes)
    shown = [kind for kind in kinds if kind not in ("job", "cosmetic")] or list(kinds)
    words = [KINDS[name].verdict([change for change in changes if change.kind == name]) for name in shown]
    words += [of_settable(of_variables)] if of_variables else []
    is_new = len(shown) < len(kinds) and any(change.kind == "job" and change.old is None for change in changes)
    return ", ".join(["is new", *words] if is_new else words)


def added_changes(new: JobVersion, prices: PriceBook) -> tuple[Change, ...]:
    """Return the changes for a new job: the job itself, access, and its cost ceiling, not each of its keys."""
    nothing = replace(
        new,
        payload={},
        layers=None,
        image_tag=None,
        code=None,
        request=None,
        writing=None,
        others=(),
        build_secrets={},
        outer_data={},
    )
    pair: Pair = paired(nothing, new, prices)
    return (
        pair.change(JOB.name, ("name",), "the job is new", new=new.job_name),
        *SECURITY.changes(pair, ()),
        ceiling_change(pair, None, highest_ceiling(new.payloads, prices, new.region, new.attempts)),
    )


def removed_changes(old: JobVersion, prices: PriceBook) -> tuple[Change, ...]:
    """Return the change for a removed job."""
    pair = paired(old, old, prices)
    return (pair.change(JOB.name, ("name",), "the job is gone", old=old.job_name),)


def data_flow(version: JobVersion) -> DataFlow:
    """Return the streams of a job; its code is not one."""
    return tuple(_streams(version))


def _streams(version: JobVersion) -> Iterator[Stream]:
    for channel in Request(payload=version.payload).channels:
        if channel.name not in ("code", "smspec"):
            place = channel.s3.get("S3Uri")
            if place is None:
                files = channel.file_system
                place = f"{files.get('FileSystemId', '?')}:{files.get('DirectoryPath', '')}" if files else "?"
            how = ", ".join(str(word) for word in (channel.mode, channel.s3.get("S3DataDistributionType")) if word)
            yield Stream(True, hidden(str(place)), channel.name, how)
    for name, path in _OUTPUTS.items():
        place = member(version.payload, *path)
        if isinstance(place, str):
            yield Stream(False, hidden(place), name, "")
