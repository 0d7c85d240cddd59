"""The review of one spec: its changes on its own and with each overlay, in the order of the kinds, each once.

A new or a removed job has no other state to compare with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from smspec.diagnostics.quoting import hidden, without_tokens
from smspec.review.change import Change, ReportedChange, safe_change
from smspec.review.kinds import KINDS
from smspec.review.kinds.members import ceiling_change
from smspec.review.kinds.same_job import JOB
from smspec.review.kinds.security import SECURITY, hidden_changes
from smspec.review.settable import is_of_variables, of_settable, settable_changes
from smspec.review.version import JobVersion, Pair, paired
from smspec.service.cost_ceiling import Ceiling, highest_ceiling
from smspec.service.job_costs import PriceBook
from smspec.service.request import Request
from smspec.service.shapes import member
from smspec.source.frozen import dataclass, replace

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
