"""Regular expressions of an organization's rules, compiled and searched by RE2 in linear time.

Python's engine takes exponential time for patterns such as ``(a+)+$``. RE2 is an optional package, imported for the
first pattern: most rules have none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class Pattern(Protocol):
        """A compiled pattern. ``programsize``: its instructions."""

        programsize: int

        def search(self, text: bytes) -> object: ...


LONGEST = 200
"""Characters of a pattern."""
LONGEST_TEXT = 16_384
"""Characters of a value that is searched. The API accepts no longer value that a pattern is about."""

_MOST_INSTRUCTIONS = 4_000
"""Of the largest pattern, which takes a fifth of a second for the longest value."""
_MEMORY = 1 << 19
"""Bytes for a compiled pattern. RE2 needs up to 15 ms to notice that a pattern takes more."""


class UnusablePattern(ValueError):
    """The pattern is malformed, too large, or uses what cannot be searched in linear time."""


class PatternsUnavailable(Exception):
    """RE2 is not installed."""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Pattern:
    """Return the pattern, ready to search. Raise `UnusablePattern`, or `PatternsUnavailable` without RE2."""
    try:
        import re2
    except ImportError:
        raise PatternsUnavailable from None
    if not hasattr(re2, "Options"):  # of another package: several are imported as re2
        raise PatternsUnavailable
    if len(pattern) > LONGEST:
        raise UnusablePattern(f"it has more than {LONGEST} characters")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.log_errors = False  # it would print them
    try:
        # Of text that is not bytes, each search would count the characters.
        found: Pattern = re2.compile(pattern.encode(), options)
    except UnicodeEncodeError:
        raise UnusablePattern("it has half of a surrogate pair") from None
    except re2.error as fault:
        words = fault.args[0]
        raise UnusablePattern(words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)) from None
    if found.programsize > _MOST_INSTRUCTIONS:
        raise UnusablePattern("it is too large: it repeats too much, or classes with too many characters")
    return found


@lru_cache(maxsize=4096)  # specs share most of their values
def is_found(pattern: str, text: str) -> bool:
    """Return whether a valid pattern matches somewhere in a text of at most `LONGEST_TEXT` characters."""
    return compiled(pattern).search(text.encode("utf-8", "replace")) is not None
