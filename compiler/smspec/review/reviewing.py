"""Review two states of a spec, each on its own and with its overlays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from smspec.review.added_and_removed_jobs import added_changes, removed_changes
from smspec.review.change import Change
from smspec.review.comparing import compared
from smspec.review.data_flow import DataFlow, data_flow
from smspec.review.job_review import JobReview, Status, job_review
from smspec.review.kinds import cosmetic
from smspec.review.missing_comparisons import State
from smspec.review.version import Version
from smspec.service.cost_ceiling import Ceiling, highest_ceiling
from smspec.service.job_costs import PriceBook


def reviewed(old: State | None, new: State | None, prices: PriceBook) -> JobReview | None:
    """Return the review of a spec; None if nothing changed. Either state may be missing, but not both."""
    sides = [state for state in (new, old) if state is not None]
    before: Mapping[str | None, Version] = {} if old is None else old.versions
    after: Mapping[str | None, Version] = {} if new is None else new.versions
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
    if any(change.kind != cosmetic.KIND.name for changes in outcomes.values() for change in changes):
        # The effect with an overlay already shows that the text changed.
        outcomes = {name: tuple(c for c in changes if c.brief != cosmetic.LAYOUT) for name, changes in outcomes.items()}
    status = _status(old, new)
    if status == "moved" and old is not None and new is not None:
        moved = Change(
            kind=cosmetic.KIND.name, path=(), old=old.file, new=new.file, what="the file moved", brief="place"
        )
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
    before: Mapping[str | None, Version], after: Mapping[str | None, Version], variant: str | None, prices: PriceBook
) -> tuple[Ceiling | None, Ceiling | None]:
    old, new = (
        None if version is None else highest_ceiling(version.payloads, prices, version.region)
        for version in (before.get(variant), after.get(variant))
    )
    return old, new


def _flows(
    before: Mapping[str | None, Version], after: Mapping[str | None, Version]
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
    for way in (_place_of, _job_of, _end_of, _name_of):
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


def _name_of(state: State) -> str | None:
    return state.name or None


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
