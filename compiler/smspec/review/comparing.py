"""Compare two states of a job: every change, in the order of the kinds."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.review.change import Change
from smspec.review.kinds import KINDS
from smspec.review.version import Version
from smspec.review.version_pair import paired
from smspec.service.prices import PriceBook


def compared(old: Version, new: Version, prices: PriceBook) -> tuple[Change, ...]:
    """Return the changes between two states, without duplicates, in the order of `KINDS`."""
    pair = paired(old, new, prices)
    reported: list[Change] = []
    for kind in KINDS.values():
        for change in kind.changes(pair, tuple(reported)):
            if change not in reported:
                reported.append(change)
    return tuple(reported)


def verdict(changes: Sequence[Change]) -> str:
    """Return a one-line summary of changes; the effects of a new job name are listed among the others.

    For a new job that comes first: what follows is not a change.
    """
    kinds = dict.fromkeys(change.kind for change in changes)
    shown = [kind for kind in kinds if kind not in ("job", "cosmetic")] or list(kinds)
    words = [KINDS[name].verdict([change for change in changes if change.kind == name]) for name in shown]
    is_new = len(shown) < len(kinds) and any(change.kind == "job" and change.old is None for change in changes)
    return ", ".join(["is new", *words] if is_new else words)
