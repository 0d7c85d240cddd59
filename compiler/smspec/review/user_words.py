"""Words of users inside of ours: always in backticks, so that what shows a sentence knows which is which."""

from __future__ import annotations

from smspec.diagnostics.visible import visible

QUOTE = "'"
"""What stands for a backtick inside of backticks."""


def quoted(text: str) -> str:
    """Return what a user wrote as it stands in a sentence of ours."""
    return f"`{visible(text).replace('`', QUOTE)}`"
