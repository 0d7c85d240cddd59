"""Text of users inside messages: always in backticks, so that output formats can tell it from ours."""

from __future__ import annotations

from smspec.diagnostics.visible import visible

QUOTE = "'"
"""What stands for a backtick inside of backticks."""


def quoted(text: str) -> str:
    """Return what a user wrote as it stands in a sentence of ours."""
    return f"`{visible(text).replace('`', QUOTE)}`"
