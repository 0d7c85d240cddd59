"""The changes that fail a check: ``--fail-on security,cost>20%``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from smspec.diagnostics.suggestions import nearest
from smspec.review.change import Change
from smspec.review.kinds import KINDS
from smspec.review.kinds.cost import CEILING
from smspec.source.frozen import dataclass

_COST_ABOVE = re.compile(r"cost\s*>\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%?")


class UnknownChangeKind(ValueError):
    """A word that is not a kind of change; the text lists the valid ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOn:
    """``kinds`` always fail; cost fails if it rises by more than ``cost_above`` percent."""

    kinds: frozenset[str]
    cost_above: Fraction | None

    def matches(self, change: Change) -> bool:
        """Return whether a change fails the check.

        A ceiling without anything to compare it with may have risen, so it fails.
        """
        if change.kind in self.kinds:
            return True
        if self.cost_above is None or change.brief != CEILING:
            return False
        return change.rise is None or change.rise > self.cost_above

    def any_of(self, changes: Iterable[Change]) -> bool:
        return any(self.matches(change) for change in changes)


def decode_fail_on(words: Iterable[str]) -> FailOn:
    """Parse the words of the option, each a comma-separated list. Raise `UnknownChangeKind`."""
    kinds: set[str] = set()
    above: list[Fraction] = []
    for word in (part.strip() for listed in words for part in listed.split(",")):
        limit = _COST_ABOVE.fullmatch(word)
        if limit:
            above.append(Fraction(limit[1]))
        elif word in KINDS:
            kinds.add(word)
        else:
            guess = nearest(word, KINDS)
            known = f"did you mean `{guess}`?" if guess else f"kinds are {', '.join(KINDS)}, and `cost>20%`"
            raise UnknownChangeKind(f"--fail-on {word}: there is no such kind of change; {known}")
    return FailOn(kinds=frozenset(kinds), cost_above=min(above, default=None))
