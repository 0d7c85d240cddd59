"""Compare many specs, each on its own and with its overlays: each is equal, different, or not compared.

A spec that has errors, now or before, could not be compared, or only in part; the reasons are those errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.quoting import without_tokens
from smspec.review.change import Change
from smspec.review.job_review import (
    DataFlow,
    JobReview,
    Status,
    added_changes,
    compared,
    data_flow,
    job_review,
    removed_changes,
)
from smspec.review.kinds.same_job import COSMETIC, LAYOUT
from smspec.review.version import JobVersion
from smspec.service.cost_ceiling import Ceiling, highest_ceiling
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import dataclass

Side = Literal["old", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A spec, or a request, called ``file``: its result on its own (None) and with each overlay.

    ``place`` is equal for two states of one spec. ``faults`` prevent the other variants from being compiled;
    ``is_read`` False: they prevent the spec from being parsed, so its overlays are unknown. ``is_found``: a search of a
    directory lists it.
    """

    file: str
    place: str
    versions: Mapping[str | None, JobVersion]
    faults: Mapping[str | None, tuple[Diagnostic, ...]]
    is_read: bool = True
    is_found: bool = True

    @property
    def name(self) -> str:
        """The name of the job; empty if nothing could be compiled."""
        return next((version.name for version in self.versions.values()), "")

    def is_unknown(self, overlay: str | None) -> bool:
        """Return whether faults prevent a result for the variant."""
        return not self.is_read or overlay in self.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The first fault of one side, and how many ``more`` it has. ``overlays``: where it occurs, None being the spec."""

    side: Side
    overlays: tuple[str | None, ...]
    first: Diagnostic
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncompared:
    """A spec that could not be compared completely. ``file`` is its current path, or its previous one."""

    name: str
    file: str
    reasons: tuple[Reason, ...]


def uncompared(old: State | None, new: State | None) -> Uncompared | None:
    """Return what could not be compared of a spec; None if nothing is unknown. Either may be missing, but not both."""
    sides: tuple[tuple[Side, State | None], ...] = (("new", new), ("old", old))
    reasons: dict[tuple[Side, Diagnostic], tuple[int, list[str | None]]] = {}
    for side, state in sides:
        for overlay, faults in state.faults.items() if state is not None else ():
            errors = [fault for fault in faults if fault.severity == "error"]
            reasons.setdefault((side, errors[0]), (len(errors) - 1, []))[1].append(
                None if overlay is None else without_tokens(overlay)
            )
    known = [state for _, state in sides if state is not None]
    if not reasons:
        return None
    return Uncompared(
        name=without_tokens(next((state.name for state in known if state.name), "")),
        file=known[0].file,
        reasons=tuple(
            Reason(side=side, overlays=tuple(overlays), first=first, more=more)
            for (side, first), (more, overlays) in reasons.items()
        ),
    )


def variants(reason: Reason) -> tuple[str, ...]:
    """Return the overlays that a reason is limited to; none if it is about the spec on its own."""
    return () if None in reason.overlays else tuple(name for name in reason.overlays if name is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReason:
    """A reason, and the jobs that could not be compared because of it: an error of a base spec is one of many."""

    reason: Reason
    jobs: tuple[Uncompared, ...]


def shared_reasons(jobs: Iterable[Uncompared]) -> tuple[SharedReason, ...]:
    """Return the reasons of all jobs, each once, in the order of the jobs."""
    found: dict[tuple[object, ...], list[tuple[Reason, Uncompared]]] = {}
    for job in jobs:
        for reason in job.reasons:
            first = reason.first
            key = (reason.side, first.code, first.message, first.span.file, first.span.line, variants(reason))
            found.setdefault(key, []).append((reason, job))
    return tuple(
        SharedReason(reason=among[0][0], jobs=tuple(dict.fromkeys(job for _, job in among))) for among in found.values()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``reviews`` of what differs, ``equal`` files; a spec in ``uncompared`` may also differ with an overlay.

    ``settings``: the files that decide how jobs are judged, as far as they differ. They come first.
    """

    settings: tuple[JobReview, ...] = ()
    reviews: tuple[JobReview, ...] = ()
    equal: tuple[str, ...] = ()
    uncompared: tuple[Uncompared, ...] = ()

    def summary(self) -> str:
        """Return a one-line summary of how many jobs are equal, different, and not compared."""
        files = {review.file for review in self.reviews}
        unknown = sum(job.file not in files for job in self.uncompared)
        in_part = unknown < len(self.uncompared)
        total = len(self.reviews) + len(self.equal) + unknown
        counts = [
            f"{number} {what}"
            for number, what in (
                (len(self.reviews), "different"),
                (len(self.equal), "equal"),
                (len(self.uncompared), "not compared in full" if in_part else "not compared"),
            )
            if number
        ]
        return f"{total} {'job' if total == 1 else 'jobs'}: {', '.join(counts)}"


def comparison(
    pairs: Iterable[tuple[State | None, State | None, PriceBook]], unchanged: Iterable[str] = ()
) -> Comparison:
    """Compare the states of specs, each with its prices, new ones last; ``unchanged`` files have the same inputs."""
    reviews: list[JobReview] = []
    equal = list(unchanged)
    unknown: list[Uncompared] = []
    for old, new, prices in pairs:
        review, rest = reviewed(old, new, prices), uncompared(old, new)
        reviews += [review] if review is not None else []
        unknown += [rest] if rest is not None else []
        if review is None and rest is None:
            equal += [state.file for state in (new, old) if state is not None][:1]
    reviews.sort(key=lambda review: review.status == "added")
    return Comparison(reviews=tuple(reviews), equal=tuple(sorted(equal)), uncompared=tuple(unknown))


def reviewed(old: State | None, new: State | None, prices: PriceBook) -> JobReview | None:
    """Return the review of a spec; None if nothing changed. Either state may be missing, but not both."""
    sides = [state for state in (new, old) if state is not None]
    before: Mapping[str | None, JobVersion] = {} if old is None else old.versions
    after: Mapping[str | None, JobVersion] = {} if new is None else new.versions
    outcomes: dict[str | None, tuple[Change, ...]] = {}
    for overlay in dict.fromkeys([*after, *before]):
        if any(state.is_unknown(overlay) for state in sides):
            continue  # otherwise it would be reported as new, or removed
        was, will = before.get(overlay), after.get(overlay)
        if was is not None and will is not None:
            outcomes[overlay] = compared(was, will, prices)
        elif will is not None:
            outcomes[overlay] = added_changes(will, prices)
        elif was is not None:
            outcomes[overlay] = removed_changes(was, prices)
    if any(change.kind != COSMETIC.name for changes in outcomes.values() for change in changes):
        # The effect with an overlay already shows that the text changed.
        outcomes = {name: tuple(c for c in changes if c.brief != LAYOUT) for name, changes in outcomes.items()}
    status = _status(old, new)
    if status == "moved" and old is not None and new is not None:
        moved = Change(kind=COSMETIC.name, path=(), old=old.file, new=new.file, what="the file moved", brief="place")
        outcomes = {name: (*changes, moved) for name, changes in outcomes.items()}
    if not any(outcomes.values()):
        return None
    known = sides[0] if sides[0].versions else sides[-1]
    return job_review(
        name=known.name,
        file=known.file,
        old_file=known.file if old is None or status == "changed" else old.file,
        status=status,
        outcomes=outcomes,
        flows=_flows(before, after) if status in ("changed", "moved") else None,
        ceilings=_ceilings(before, after, next(iter(outcomes)), prices),
    )


def _ceilings(
    before: Mapping[str | None, JobVersion],
    after: Mapping[str | None, JobVersion],
    variant: str | None,
    prices: PriceBook,
) -> tuple[Ceiling | None, Ceiling | None]:
    old, new = (
        None if version is None else highest_ceiling(version.payloads, prices, version.region, version.attempts)
        for version in (before.get(variant), after.get(variant))
    )
    return old, new


def _flows(
    before: Mapping[str | None, JobVersion], after: Mapping[str | None, JobVersion]
) -> tuple[DataFlow, DataFlow] | None:
    """Return the data flow of both states if it changed: on its own, else with the first overlay that changes it."""
    both = ((data_flow(before[name]), data_flow(after[name])) for name in after if name in before)
    return next((flows for flows in both if flows[0] != flows[1]), None)


def _status(old: State | None, new: State | None) -> Status:
    if old is None or new is None:
        return "added" if old is None else "removed"
    return "changed" if old.place == new.place else "moved"


def paired(olds: list[State], news: list[State]) -> list[tuple[State | None, State | None]]:
    """Return which states are of one job: those with the same path, then, of the others, those with the same name.

    What is submitted is a path, and anyone can give another spec its name. Of several specs with one name, those with
    an equal job are paired, then those in a directory of the same name. The rest is not, nor are specs that could not
    be compiled. One that a search finds only at its new path is a new job: `validate` did not check it before.
    """
    found: dict[int, State] = {}
    for way in (_place_of, _job_of, _end_of, lambda state: state.name or None):
        taken = {id(old) for old in found.values()}
        before = _alone(way, [old for old in olds if id(old) not in taken])
        after = _alone(way, [new for new in news if id(new) not in found])
        found.update(
            {
                id(new): before[key]
                for key, new in after.items()
                if key in before and (way is _place_of or before[key].is_found or not new.is_found)
            }
        )
    taken = {id(old) for old in found.values()}
    return [*((found.get(id(new)), new) for new in news), *((old, None) for old in olds if id(old) not in taken)]


def _place_of(state: State) -> str:
    return state.place


def _job_of(state: State) -> object:
    jobs = tuple((overlay, version.job_name) for overlay, version in state.versions.items())
    return (state.name, jobs) if state.name else None


def _end_of(state: State) -> object:
    return (state.name, *state.place.split(os.sep)[-2:]) if state.name else None


def _alone(way: Callable[[State], object], states: list[State]) -> dict[object, State]:
    """Return the states with a unique result of ``way``, by that result."""
    by_key: dict[object, list[State]] = {}
    for state in states:
        by_key.setdefault(way(state), []).append(state)
    return {key: same[0] for key, same in by_key.items() if key is not None and len(same) == 1}
