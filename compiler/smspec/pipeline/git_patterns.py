"""Patterns of .gitignore, as ``git help gitignore`` defines them: from lines to something that matches paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.pipeline.glob_expression import LONGEST, SPAN, STAR, joined
from smspec.source.frozen import dataclass

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class GitPattern:
    """One line. ``ignores`` False: it began with ``!``. A pattern without a slash is matched against the name alone."""

    expression: re.Pattern[str]
    ignores: bool
    only_directories: bool
    only_name: bool

    def matches(self, path: str, is_directory: bool) -> bool:
        """Tell whether a path, relative to where the pattern stands, is meant; what lies below it is not asked here."""
        if self.only_directories and not is_directory:
            return False
        return self.expression.fullmatch(path.rpartition("/")[2] if self.only_name else path) is not None


def git_patterns(lines: Iterable[str]) -> tuple[GitPattern, ...]:
    """Return the patterns of a .gitignore in their order; a line that git can never match is left out."""
    return tuple(pattern for pattern in map(_pattern, lines) if pattern is not None)


def verdict(patterns: tuple[GitPattern, ...], path: str, is_directory: bool) -> bool | None:
    """Return whether the last pattern that matches ignores the path; None when none matches."""
    for pattern in reversed(patterns):
        if pattern.matches(path, is_directory):
            return pattern.ignores
    return None


def _pattern(line: str) -> GitPattern | None:
    text = _without_trailing_blanks(line)
    if not text or text.startswith("#") or len(text) > LONGEST:
        return None
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    only_directories = text.endswith("/")
    text = text[:-1] if only_directories else text
    only_name = "/" not in text
    expression = _expression(text.removeprefix("/"), not only_name) if text else None
    if expression is None:
        return None
    return GitPattern(re.compile(expression, re.DOTALL), ignores, only_directories, only_name)


def _without_trailing_blanks(line: str) -> str:
    """Drop blanks at the end, but for one that a backslash protects."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and len(kept) < len(line) else kept


def _expression(glob: str, spans_directories: bool) -> str | None:
    """Return the regular expression of a glob, or None for one that matches nothing."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        if character == "*":
            end = at
            while glob[end : end + 1] == "*":
                end += 1
            alone = (at == 0 or glob[at - 1] == "/") and glob[end : end + 1] in ("", "/")
            if end - at > 1 and alone and spans_directories:
                spanning = SPAN if glob[end : end + 1] else ".*"
                parts += [spanning] if parts[-1:] != [spanning] else []  # many in a row would be slow to refuse
                at = end + 1
            else:
                parts.append(STAR)
                at = end
        elif character == "?":
            parts.append("[^/]")
            at += 1
        elif character == "[":
            found = _bracket(glob, at + 1)
            if found is None:
                return None
            expression, at = found
            parts.append(expression)
        else:
            at += character == "\\"
            if at == len(glob):
                return None
            parts.append(re.escape(glob[at]))
            at += 1
    return joined(parts)


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """Return the expression of the bracket that opened before ``at`` and where it ends; None when it never does."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    first = at
    while at == first or glob[at : at + 1] != "]":
        if at >= len(glob):
            return None
        if glob.startswith("[:", at) and (end := glob.find("]", at + 2)) > 0 and glob[end - 1] == ":":
            name = glob[at + 2 : end - 1]
            if name not in _CLASSES:
                return None
            members.append(_CLASSES[name])
            at = end + 1
            continue
        low, at = _member(glob, at)
        high = low
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(glob, at + 1)
        # A range the wrong way round is its first character to git.
        members.append(f"{re.escape(low)}-{re.escape(high if low <= high else low)}")
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    at += glob[at] == "\\"
    return glob[at : at + 1], at + 1
