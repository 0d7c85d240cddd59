"""Distinguish an index that cannot be used from requirements that nothing fits."""

from __future__ import annotations

import re

from smspec.lock.environments.resolution import ResolverFailed

_UNREACHABLE = re.compile(
    r"Failed to establish a new connection|name resolution|Name or service not known|Connection (?:refused|reset)"
    r"|Network is unreachable|error sending request|Failed to fetch|Request failed|timed out|dns error"
    r"|tcp connect error|HTTP error 5|operation timed out|Could not fetch URL|ReadTimeout|ConnectTimeout"
    r"|Network connectivity is disabled|certificate verify failed|invalid peer certificate|IncompleteRead"
    r"|end of file before message|Connection broken|error decoding response|unexpected end of file",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b40[13]\b.{0,40}(?:Unauthorized|Forbidden|Client Error)|Unauthorized|Forbidden|401 Error")
_LINE = re.compile(r"(?:error|cause|caused by|WARNING|ERROR):\s*(.+)", re.IGNORECASE)


def unusable_index(text: str, resolver: str) -> None:
    """Raise `ResolverFailed` if an index did not answer, as a resolver prints it."""
    if _DENIED.search(text):
        raise ResolverFailed(f"a package index denies access to {resolver}; check its credentials: {_shown(text)}")
    if _UNREACHABLE.search(text):
        raise ResolverFailed(f"{resolver} cannot reach a package index: {_shown(text)}")


def _shown(text: str) -> str:
    """Return the line of a message that has the reason."""
    lines = [match[1].strip() for match in _LINE.finditer(text)] or text.split("\n")
    named = [line for line in lines if _UNREACHABLE.search(line) or _DENIED.search(line)]
    return (named or lines)[-1][:200]
