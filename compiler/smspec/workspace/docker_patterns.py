"""Patterns of .dockerignore, as Docker parses them: Go's ``filepath.Match`` with ``**``, exceptions with ``!``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from smspec.source.frozen import dataclass
from smspec.workspace.git_patterns import LONGEST, SPAN, STAR, cost, joined


@dataclass(frozen=True, slots=True)
class DockerPattern:
    """One line. ``ignores`` False: it began with ``!``."""

    expression: re.Pattern[str]
    ignores: bool

    @property
    def cost(self) -> int:
        """The time it takes to reject a path."""
        return cost(self.expression)


def docker_patterns(lines: Iterable[str]) -> tuple[DockerPattern, ...]:
    """Return the patterns of a .dockerignore in order, without lines that are not patterns."""
    return tuple(pattern for pattern in map(_pattern, lines) if pattern is not None)


def ignored(patterns: tuple[DockerPattern, ...], path: str) -> bool:
    """Return whether the last pattern that matches the path, or a directory above it, ignores it."""
    parts = path.split("/")
    candidates = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    outcome = False
    for pattern in patterns:
        if pattern.ignores != outcome and any(map(pattern.expression.fullmatch, candidates)):
            outcome = pattern.ignores
    return outcome


def _pattern(line: str) -> DockerPattern | None:
    text = "" if line.startswith("#") else line.strip()
    ignores = not text.startswith("!")
    text = text if ignores else text[1:].strip()
    if not text or len(text) > LONGEST:
        return None
    text = posixpath.normpath(text)
    expression = _expression(text.lstrip("/") if len(text) > 1 else text)
    return None if expression is None else DockerPattern(re.compile(expression, re.DOTALL), ignores)


def _expression(glob: str) -> str | None:
    """Return the regular expression of a glob, or None if it is malformed."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*" and glob[at : at + 1] == "*":
            at += 1
            at += glob[at : at + 1] == "/"
            spanning = SPAN if at < len(glob) else ".*"
            parts += [spanning] if parts[-1:] != [spanning] else []  # several in a row would be slow to reject
        elif character == "*":
            parts.append(STAR)
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            found = _bracket(glob, at)
            if found is None:
                return None
            expression, at = found
            parts.append(expression)
        elif character == "\\":
            if at == len(glob):
                return None
            parts.append(re.escape(glob[at]))
            at += 1
        else:
            parts.append(re.escape(character))
    return joined(parts)


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """Return the expression of the bracket that opened before ``at`` and its end; None if it is malformed.

    As in Go: ``^`` negates, ``-`` only makes a range, a backslash escapes. It never matches a slash.
    """
    negated = glob[at : at + 1] == "^"
    at += negated
    members: list[str] = []
    while not (members and glob[at : at + 1] == "]"):
        low, at = _member(glob, at)
        high = low
        if glob[at : at + 1] == "-":
            high, at = _member(glob, at + 1)
        if not low or not high:
            return None
        # A reversed range is empty.
        members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    """Return one character of a bracket and the start of the next; "" if there is none that is valid there."""
    if glob[at : at + 1] in ("-", "]"):
        return "", at
    at += glob[at : at + 1] == "\\"
    return glob[at : at + 1], at + 1
