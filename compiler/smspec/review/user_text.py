"""User text in messages: always in backticks, so output formats can distinguish it from the message."""

from __future__ import annotations

from smspec.diagnostics.visible import visible

QUOTE = "'"
"""The replacement for a backtick inside of backticks."""


def quoted(text: str) -> str:
    """Return user text for a sentence of smspec."""
    return f"`{visible(text).replace('`', QUOTE)}`"
