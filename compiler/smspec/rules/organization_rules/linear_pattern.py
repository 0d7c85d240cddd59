"""Regular expressions that are searched in linear time, for patterns that an organization writes.

Python's engine takes exponential time for patterns such as ``(a+)+$``. Here a pattern becomes a set of states, and each
character of the text is compared once with the states that are reached. There are no backreferences and lookarounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

LONGEST = 200
"""Characters of a pattern."""

_MOST_STATES = 400
_MOST_COMPARED = 4_096
"""Characters of a text that is searched. No value of a request that a pattern describes is longer."""

_REPEAT = re.compile(r"\{(\d{1,3})(,?)(\d{0,3})\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_KNOWN_ESCAPES = frozenset("dDwWsSnt")

_Emit = Callable[[int], int]
"""Adds the states of a part of the pattern in front of a state, and returns the first of them."""


class UnusablePattern(ValueError):
    """The pattern is malformed, too large, or uses what cannot be searched in linear time."""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> LinearPattern:
    """Return the pattern, ready to search. Raise `UnusablePattern`."""
    return LinearPattern(pattern)


@lru_cache(maxsize=4096)  # specs share most of their values
def is_found(pattern: str, text: str) -> bool:
    """Return whether a valid pattern matches somewhere in a text."""
    return compiled(pattern).is_in(text)


class LinearPattern:
    """A pattern as a graph: a state accepts a character, is at an end of the text, or splits into others."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST:
            raise UnusablePattern(f"it has more than {LONGEST} characters")
        self._text = pattern
        self._at = 0
        self._accepts: list[Callable[[str], object] | str | None] = [None]
        self._next: list[tuple[int, ...]] = [()]  # state 0: found
        emit = self._alternatives()
        if self._at < len(pattern):
            raise UnusablePattern("a `)` closes nothing")
        self._first = emit(0)

    def is_in(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in a text; False for a text of more than 4,096 characters."""
        if len(text) > _MOST_COMPARED:
            return False
        states: set[int] = set()
        for position in range(len(text) + 1):
            reached = self._closure({*states, self._first}, is_start=position == 0, is_end=position == len(text))
            if 0 in reached:
                return True
            if position < len(text):
                states = {
                    target for state in reached for target in self._next[state] if self._takes(state, text[position])
                }
        return False

    def _takes(self, state: int, character: str) -> bool:
        accepts = self._accepts[state]
        return not isinstance(accepts, str) and accepts is not None and bool(accepts(character))

    def _closure(self, states: set[int], *, is_start: bool, is_end: bool) -> set[int]:
        """Return what is reached without a character."""
        reached: set[int] = set()
        ahead = [*states]
        while ahead:
            state = ahead.pop()
            if state in reached:
                continue
            reached.add(state)
            accepts = self._accepts[state]
            if accepts == "split" or (accepts == "^" and is_start) or (accepts == "$" and is_end):
                ahead += self._next[state]
        return reached

    def _add(self, accepts: Callable[[str], object] | str, *targets: int) -> int:
        if len(self._next) > _MOST_STATES:
            raise UnusablePattern("it repeats too much")
        self._accepts.append(accepts)
        self._next.append(targets)
        return len(self._next) - 1

    def _alternatives(self) -> _Emit:
        choices = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            choices.append(self._sequence())
        if len(choices) == 1:
            return choices[0]
        return lambda follow: self._add("split", *[emit(follow) for emit in choices])

    def _sequence(self) -> _Emit:
        parts: list[_Emit] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom()))

        def emit(follow: int) -> int:
            for part in reversed(parts):
                follow = part(follow)
            return follow

        return emit

    def _atom(self) -> _Emit:
        start, character = self._at, self._text[self._at]
        self._at += 1
        if character == "(":
            return self._group()
        if character in "*+?{":
            raise UnusablePattern(f"there is nothing before `{character}` to repeat")
        if character in "^$":
            return lambda follow: self._add(character, follow)
        if character == "\\":
            escaped = self._text[self._at : self._at + 1]
            self._at += 1
            if not escaped or (escaped.isalnum() and escaped not in _KNOWN_ESCAPES):
                raise UnusablePattern(f"`\\{escaped}` is not supported")
        elif character == "[":
            found = _CLASS.match(self._text, start)
            if found is None:
                raise UnusablePattern("a `[` is never closed")
            self._at = found.end()
        return self._accepting(self._text[start : self._at])

    def _accepting(self, atom: str) -> _Emit:
        try:
            accepts = re.compile(atom).fullmatch
        except re.error as fault:
            raise UnusablePattern(fault.msg) from None
        return lambda follow: self._add(accepts, follow)

    def _group(self) -> _Emit:
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._text.startswith("?", self._at):
            raise UnusablePattern("it has a group with `(?` other than `(?:`")
        inner = self._alternatives()
        if not self._text.startswith(")", self._at):
            raise UnusablePattern("a `(` is never closed")
        self._at += 1
        return inner

    def _repeated(self, once: _Emit) -> _Emit:
        character = self._text[self._at : self._at + 1]
        counted = _REPEAT.match(self._text, self._at)
        if counted:
            self._at = counted.end()
            least = int(counted[1])
            most = least if not counted[2] else int(counted[3]) if counted[3] else None
        elif character and character in "*+?":
            self._at += 1
            least, most = (1 if character == "+" else 0), (1 if character == "?" else None)
        else:
            return once
        if most is not None and most < least:
            raise UnusablePattern("a repetition has a maximum below its minimum")
        # How much a repetition takes does not change whether there is a match.
        if self._text.startswith("?", self._at):
            self._at += 1
        elif self._text[self._at : self._at + 1] in ("*", "+", "{"):
            raise UnusablePattern("a repetition follows a repetition")
        return lambda follow: self._copies(once, least, most, follow)

    def _copies(self, once: _Emit, least: int, most: int | None, follow: int) -> int:
        if most is None:
            loop = self._add("split")
            self._next[loop] = (once(loop), follow)
            follow = loop
        for _ in range(0 if most is None else most - least):
            follow = self._add("split", once(follow), follow)
        for _ in range(least):
            follow = once(follow)
        return follow
