"""The only text that can be meant by a misspelled one, so that it can be replaced without asking."""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.diagnostics.suggestions import bare, distance
from smspec.source.frozen import dataclass

_LEAST_LETTERS = 4
"""With fewer letters, one typo makes a different word."""


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
