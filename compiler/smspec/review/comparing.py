"""Two states of a job, compared: every change, of the kinds in their order."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.review.change import Change
from smspec.review.kinds import KINDS
from smspec.review.prices import Prices
from smspec.review.version import Version
from smspec.review.version_pair import paired


def compared(old: Version, new: Version, prices: Prices) -> tuple[Change, ...]:
    """Return what differs between two states, each change once, in the order of `KINDS`."""
    pair = paired(old, new, prices)
    reported: list[Change] = []
    for kind in KINDS.values():
        for change in kind.changes(pair, tuple(reported)):
            if change not in reported:
                reported.append(change)
    return tuple(reported)


def verdict(changes: Sequence[Change]) -> str:
    """Return in one line what changes come to; what a new name adds to other changes is told among them alone.

    That a job is new stands first: what else is told of it is not a change.
    """
    kinds = dict.fromkeys(change.kind for change in changes)
    said = [kind for kind in kinds if kind not in ("job", "cosmetic")] or list(kinds)
    words = [KINDS[name].verdict([change for change in changes if change.kind == name]) for name in said]
    is_new = len(said) < len(kinds) and any(change.kind == "job" and change.old is None for change in changes)
    return ", ".join(["is new", *words] if is_new else words)
