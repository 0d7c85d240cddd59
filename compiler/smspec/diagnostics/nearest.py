"""The known name that a mistyped one probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the name of ``known`` that is nearest to ``word``, or None when nothing is near; ties go to the first.

    Near is: equal but for case and punctuation, or at most one slip (a letter missing, added, changed, or two
    swapped) in three letters.
    """
    bare = _bare(word)
    best: str | None = None
    # difflib would do, but importing it costs more than the whole check of a spec.
    limit = max(1, len(bare) // 3) if len(bare) > 1 else 0
    for name in known:
        other = _bare(name)
        if other == bare:
            return name
        if abs(len(other) - len(bare)) <= limit:
            slips = _slips(bare, other, limit)
            if slips <= limit:
                best, limit = name, slips - 1
    return best


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


def _slips(one: str, two: str, limit: int) -> int:
    """Return the optimal string alignment distance, or any number above ``limit``."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(two, 1):
            slips = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if earlier and j > 1 and a == two[j - 2] and one[i - 2] == b:
                slips = min(slips, earlier[j - 2] + 1)
            row.append(slips)
        if min(row) > limit:
            return limit + 1
    return row[-1]
