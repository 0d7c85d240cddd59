"""The known name that a misspelled one probably means, and the fix if no other can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from smspec.source.frozen import dataclass

_PLAIN_BEGINNING = 5
"""Letters that identify a name, as in `RemoteDebug`; fewer are a prefix of many words."""

_LEAST_LETTERS = 4
"""With fewer letters, one typo makes a different word."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the name in ``known`` that is most similar to ``word``, or None if none is similar.

    Similar is: equal except for case and punctuation, or at most one typo (a letter missing, added, changed, or two
    swapped) in three letters. Of equally similar names, the one with the most likely typo; else the first. If none is
    similar, the only name that starts with the word.
    """
    known = tuple(known)
    plain = bare(word)
    best: str | None = None
    likelihood = 0
    # difflib would do, but importing it takes longer than the whole check of a spec.
    limit = max(1, len(plain) // 3) if len(plain) > 1 else 0
    for name in known:
        other = bare(name)
        if other == plain:
            return name
        if abs(len(other) - len(plain)) <= limit:
            slips = _slips(plain, other, limit)
            if slips < limit or (slips == limit and (best is None or _likelihood(word, name) > likelihood)):
                best, limit, likelihood = name, slips, _likelihood(word, name)
    return best or _begun(plain, known)


def distance(one: str, two: str, limit: int) -> int:
    """Return the number of typos between two names, without case and punctuation; more than ``limit`` is any number."""
    return _slips(bare(one), bare(two), limit)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question about the name that ``word`` probably means, as `nearest` finds it; empty if none is near."""
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else ""


def _begun(plain: str, known: Iterable[str]) -> str | None:
    begun = [name for name in known if bare(name).startswith(plain)] if len(plain) >= _PLAIN_BEGINNING else []
    return begun[0] if len(begun) == 1 else None


def _likelihood(word: str, name: str) -> int:
    """Return the likelihood of the typo that turns a name into a word, among equally similar names; more is likelier.

    2: a letter was omitted, typed twice, or two were swapped: there are few such typos, and they are common. Any other
    typed letter could be any of the alphabet. 1: as many letters as the name has, because a wrong key is more common
    than an extra one.
    """
    if _is_likely(word.lower(), name.lower()):
        return 2
    return 1 if len(word) == len(name) else 0


def _is_likely(word: str, name: str) -> bool:
    start = 0
    while word[start : start + 1] == name[start : start + 1] and start < len(word):
        start += 1
    if len(name) == len(word) + 1:
        return word[start:] == name[start + 1 :]
    if len(word) == len(name) + 1:
        return word[start : start + 1] == word[start - 1 : start] and word[start + 1 :] == name[start:]
    swapped = word[:start] + word[start : start + 2][::-1] + word[start + 2 :]
    return swapped == name


@lru_cache(maxsize=1024)
def bare(word: str) -> str:
    """Return a name without case and punctuation."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


def _slips(one: str, two: str, limit: int) -> int:
    """Return the optimal string alignment distance, or any number above ``limit``."""
    start, end = 0, 0
    shorter = min(len(one), len(two))
    while start < shorter and one[start] == two[start]:
        start += 1
    while end < shorter - start and one[-1 - end] == two[-1 - end]:
        end += 1
    one, two = one[start : len(one) - end], two[start : len(two) - end]

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


@dataclass(frozen=True, slots=True)
class Fix:
    """``written``: the key or value as the author wrote it, without quotes. ``meant``: the YAML in its place."""

    written: str
    meant: str


def spelling_fix(word: str, known: Iterable[str]) -> Fix | None:
    """Return the fix of a misspelled name if it is certain: only one known name can be meant.

    That name differs in case and punctuation only, or in one typo while no other name is within two typos. Numbers are
    equal: `4xlarge` is as likely a wrong choice as a typo of `8xlarge`.
    """
    names = tuple(dict.fromkeys(known))
    same = [name for name in names if bare(name) == bare(word)]
    if same:
        return Fix(word, same[0]) if len(same) == 1 and same[0] != word else None
    if len(bare(word)) < _LEAST_LETTERS:
        return None
    near = [name for name in names if distance(word, name, 2) <= 2]
    if len(near) != 1 or distance(word, near[0], 1) > 1 or re.findall("[0-9]+", word) != re.findall("[0-9]+", near[0]):
        return None
    return Fix(word, near[0])
