"""Mounts as words of a client."""

from __future__ import annotations


def mount(source: str, target: str) -> str:
    """Return the value of ``--mount``: comma-separated values, in which a field with a comma or a quote is quoted."""
    return ",".join(("type=bind", _field(f"source={source}"), _field(f"target={target}")))


def _field(text: str) -> str:
    if not any(character in text for character in ',"\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
