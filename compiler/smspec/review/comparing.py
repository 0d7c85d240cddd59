"""Compare two states of a job: every change, in the order of the kinds."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.review.change import Change
from smspec.review.kinds import KINDS
from smspec.review.settable import is_of_variables, of_settable, settable_changes
from smspec.review.version import Version
from smspec.review.version_pair import paired
from smspec.service.job_costs import PriceBook


def compared(old: Version, new: Version, prices: PriceBook) -> tuple[Change, ...]:
    """Return the changes between two states, without duplicates, in the order of `KINDS`."""
    pair = paired(old, new, prices)
    reported: list[Change] = []
    of_variables = list(settable_changes(pair))
    for kind in KINDS.values():
        found = [*kind.changes(pair, tuple(reported)), *(each for each in of_variables if each.kind == kind.name)]
        for change in found:
            if change not in reported:
                reported.append(change)
    return tuple(reported)


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
