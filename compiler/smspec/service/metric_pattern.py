"""Parse the regular expression of a metric just far enough: what every engine rejects, and the text before the value.

SageMaker does not document which engine searches the log. So nothing is compiled here: groups and classes are parsed in
every way in which some engine reads them, and only what is broken in all of these ways is reported.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import comb, inf
from typing import TYPE_CHECKING

from smspec.service.request import Request
from smspec.service.shapes import items, member
from smspec.source import Path
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from types import FrameType

_LONGEST = 500
_QUANTIFIERS = "*+?"
_NAMED = r"\(\?P?<(?![=!])|\(\?'"

_TOKEN = re.compile(
    r"(?P<flags>\(\?[aiLmsux]+\))"
    r"|(?P<group>\((?!\?)|\(\?P<\w+>)"
    r"|(?P<class>\[(?P<not>\^?)(?P<inner>\]?(?:[^\]\\]|\\.)*)\])"
    r"|\\(?P<escape>.)"
    r"|(?P<quantifier>[*+?]|\{\d*,?\d*\})"
    r"|(?P<plain>[^.^$|()\[\]{}*+?\\])"
    r"|(?P<start>\^)"
    r"|(?P<other>.)",
    re.DOTALL,
)
# References to a group, and flags with which a `#` begins a comment.
_OTHER_SYNTAX = re.compile(r"\(\?(?:P=|\(|[a-zA-Z]*x)")
_CLASS_ESCAPE = re.compile(r"[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class MetricPattern:
    """``fault``: why no engine accepts the expression, or None. ``groups``: the number of capture groups."""

    fault: str | None
    groups: int


class OutOfTime(Exception):
    """Regular expressions of metrics took too long."""


class _Reading:
    """One pass over a regular expression; ``at`` is the position of the next character.

    ``first_bracket_is_text``: in `[]a]`; ``classes_nest``: as Java's `[a[b]]` do; ``quotes``: `\\Q…\\E` is text.
    """

    def __init__(self, text: str, *, first_bracket_is_text: bool, classes_nest: bool, quotes: bool) -> None:
        self.text = text
        self.at = 0
        self.first_bracket_is_text = first_bracket_is_text
        self.classes_nest = classes_nest
        self.quotes = quotes

    def whole(self) -> MetricPattern:
        """Parse everything, or as far as possible."""
        groups = depth = 0
        can_repeat = False
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "\\":
                if not self._skip_escape():
                    return MetricPattern("it ends in a lone backslash", groups)
                can_repeat = True
                continue
            if character == "[":
                if not self._skip_class():
                    return MetricPattern("a `[` is never closed", groups)
                can_repeat = True
                continue
            if character in _QUANTIFIERS and not can_repeat:
                return MetricPattern(f"there is nothing before `{character}` to repeat", groups)
            if character == "(":
                if re.match(r"\(\?[a-z]*x", self.text[self.at :]):
                    # Comments with brackets of their own may follow.
                    return MetricPattern(None, max(groups, self.text.count("(")))
                groups += self._keeps_what_it_matches()
                depth += self._skip_opening()
                can_repeat = False
                continue
            if character == ")":
                depth -= 1
                if depth < 0:
                    return MetricPattern("a `)` closes nothing", groups)
            self.at += 1
            can_repeat = character != "|"
        return MetricPattern("a `(` is never closed" if depth else None, groups)

    def _keeps_what_it_matches(self) -> bool:
        rest = self.text[self.at :]
        return not rest.startswith(("(?", "(*")) or re.match(_NAMED, rest) is not None

    def _skip_opening(self) -> int:
        """Skip the opening of a group; a comment and a verb are not groups, and are skipped as a whole."""
        rest = self.text[self.at :]
        aside = re.match(r"\(\?#[^)]*\)|\(\*[A-Za-z_:=0-9]+\)", rest)
        opening = aside or re.match(r"\((?:\?(?:\([^)]*\)|P?<?[=!]|P?<[^>]*>|'[^']*'|[^)]?))?", rest)
        self.at += opening.end() if opening else 1
        return 0 if aside else 1

    def _skip_escape(self) -> bool:
        if self.quotes and self.text.startswith("\\Q", self.at):
            end = self.text.find("\\E", self.at)
            self.at = len(self.text) if end < 0 else end + 2
            return True
        self.at += 2
        return self.at <= len(self.text)

    def _skip_class(self) -> bool:
        """Skip a character class; return whether it ends."""
        self.at += 1
        if self.text.startswith("^", self.at):
            self.at += 1
        if self.first_bracket_is_text and self.text.startswith("]", self.at):
            self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            posix = re.match(r"\[:\^?[a-z]+:\]", self.text[self.at :])
            if posix:
                self.at += posix.end()
            elif character == "\\":
                if not self._skip_escape():
                    return False
            elif character == "[" and self.classes_nest:
                if not self._skip_class():
                    return False
            else:
                self.at += 1
                if character == "]":
                    return True
        return False


def metric_patterns(request: Request) -> Iterator[tuple[Path, MetricPattern]]:
    """Yield the parsed regular expression of every metric, and its path, except those that are too long."""
    for index, metric in enumerate(items(request.algorithm, "MetricDefinitions")):
        text = member(metric, "Regex")
        if isinstance(text, str) and len(text) <= _LONGEST:
            yield ("AlgorithmSpecification", "MetricDefinitions", index, "Regex"), read_pattern(text)


def searchable_metrics(definitions: Iterable[object]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the name and the compiled expression of each metric that Python can search; a rule reports faulty ones."""
    for definition in definitions:
        try:
            pattern = re.compile(str(member(definition, "Regex") or ""))
        except (re.error, OverflowError, RecursionError):
            continue
        if pattern.groups:
            yield str(member(definition, "Name") or ""), pattern


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` after some processor time, in the middle of a search, too. Only in the main thread."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@lru_cache(maxsize=256)  # two rules use it, and jobs of one team have the same metrics
def read_pattern(text: str) -> MetricPattern:
    """Parse a regular expression in the ways of all engines; return the first that succeeds."""
    ways = [
        _Reading(text, first_bracket_is_text=first, classes_nest=nested, quotes=quotes).whole()
        for quotes in ((True, False) if "\\Q" in text else (False,))
        for first in (True, False)
        for nested in (False, True)
    ]
    return next((way for way in ways if way.fault is None), ways[0])


def literal_before_value(pattern: str) -> str | None:
    """Return the characters that stand between the last wildcard and the first group; None if that is not understood.

    Optional and repeated separators are returned once. An optional letter counts as a wildcard.
    """
    found = ""
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if token["group"] is not None:
            return found
        if token["plain"] is not None:
            found += token["plain"]
        elif token["class"] is not None:
            found = found + " " if not token["not"] and not re.search(r"\w", token["inner"]) else ""
        elif token["escape"] is not None:
            found = _escaped(found, token["escape"])
        elif token["quantifier"] is not None:
            found = "" if found[-1:].isalnum() else found
        elif token["other"] == ".":
            found = ""
        elif kind not in ("flags", "start"):
            return None
    return None


def _escaped(found: str, escape: str) -> str:
    if escape in "snt":
        return found + " "
    if escape == "b":
        return found
    return "" if _CLASS_ESCAPE.match(escape) else found + escape


def most_steps(pattern: str, length: int) -> float:
    """Return a bound on the steps in which Python searches a text of this length; infinite if none is known.

    From each start, every way is tried in which the repetitions share the text, and each option doubles the ways.
    """
    if _OTHER_SYNTAX.search(pattern):
        return inf
    repetitions = options = 0
    before = None
    for token in _TOKEN.finditer(pattern):
        quantifier, escape = token["quantifier"], token["escape"]
        if quantifier is None:
            options += token["other"] == "|"
            if escape is not None and escape in "123456789":
                return inf
        elif before is not None and before["quantifier"] is not None:
            pass  # `*?` and `*+` repeat what `*` repeats
        elif quantifier == "?":
            options += 1
        elif before is not None and before["other"] == ")":
            return inf  # a repeated group may match one text in exponentially many ways
        else:
            repetitions += 1
        before = token
    return float(comb(length + 1, repetitions + 1) * 2**options)


def letters(text: str) -> str:
    """Return the letters and digits of a text, without case and separators."""
    return re.sub(r"[\W_]", "", text).lower()
