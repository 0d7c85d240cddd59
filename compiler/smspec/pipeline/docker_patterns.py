"""Patterns of .dockerignore, as Docker reads them: Go's ``filepath.Match`` with ``**``, exceptions with ``!``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class DockerPattern:
    """One line. ``ignores`` False: it began with ``!``."""

    expression: re.Pattern[str]
    ignores: bool


def docker_patterns(lines: Iterable[str]) -> tuple[DockerPattern, ...]:
    """Return the patterns of a .dockerignore in their order; a line that is no pattern is left out."""
    return tuple(pattern for pattern in map(_pattern, lines) if pattern is not None)


def ignored(patterns: tuple[DockerPattern, ...], path: str) -> bool:
    """Tell whether the last pattern that matches the path, or a directory above it, ignores it."""
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
    if not text:
        return None
    text = posixpath.normpath(text)
    expression = _expression(text.lstrip("/") if len(text) > 1 else text)
    return None if expression is None else DockerPattern(re.compile(expression, re.DOTALL), ignores)


def _expression(glob: str) -> str | None:
    """Return the regular expression of a glob, or None for one that is not whole."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*" and glob[at : at + 1] == "*":
            at += 1
            at += glob[at : at + 1] == "/"
            spanning = "(?:.*/)?" if at < len(glob) else ".*"
            parts += [spanning] if parts[-1:] != [spanning] else []  # many in a row would be slow to refuse
        elif character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            end = glob.find("]", at + 1)
            if end < 0:
                return None
            parts.append(_bracket(glob[at:end]))
            at = end + 1
        elif character == "\\":
            if at == len(glob):
                return None
            parts.append(re.escape(glob[at]))
            at += 1
        else:
            parts.append(re.escape(character))
    return "".join(parts)


def _bracket(inside: str) -> str:
    """Return a bracket of Go's as one of Python's: ``^`` negates, ``-`` is a range, a backslash escapes."""
    negated = inside.startswith("^")
    members = re.sub(r"\\(.)|([^\\^-])", lambda match: re.escape(match[1] or match[2]), inside[negated:])
    return f"[{'^' if negated else ''}{members}]"
