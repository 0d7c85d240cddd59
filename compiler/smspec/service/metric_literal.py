"""The text that the regular expression of a metric requires directly before the value."""

from __future__ import annotations

import re
from math import comb, inf

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
