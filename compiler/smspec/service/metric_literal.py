"""The text that the regular expression of a metric requires directly before the value."""

from __future__ import annotations

import re

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


def is_cheap(pattern: str) -> bool:
    """Return whether the time to search a short line is small for certain: no repeated groups, few repetitions."""
    if re.search(r"(?<!\\)\)[*+{]|\\[1-9]|\(\?P=", pattern):
        return False
    return len(re.findall(r"(?<!\\)(?:[*+]|\{\d*,\d*\})", pattern)) <= 4


def letters(text: str) -> str:
    """Return the letters and digits of a text, without case and separators."""
    return re.sub(r"[\W_]", "", text).lower()
