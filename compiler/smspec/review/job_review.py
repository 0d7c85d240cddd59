"""The review of one spec: the job on its own and with each of its overlays, without repetitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from smspec.diagnostics.masking import without_tokens
from smspec.review.change import Change
from smspec.review.comparing import verdict
from smspec.review.data_flow import DataFlow
from smspec.review.redaction import safe_change
from smspec.service.cost_ceiling import Ceiling
from smspec.source.frozen import dataclass

Status = Literal["changed", "added", "removed", "moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedChange:
    """A change and where it applies: to the spec on its own, and to these overlays.

    ``is_everywhere``: to all variants.
    """

    change: Change
    as_is: bool
    overlays: tuple[str, ...]
    is_everywhere: bool


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
    outcomes = {
        None if overlay is None else without_tokens(overlay): [safe_change(change) for change in changes]
        for overlay, changes in outcomes.items()
    }
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
            overlays=tuple(overlay for overlay in overlays if overlay is not None),
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
            yield overlay, verdict(more)
