"""Mounts as words of a client."""

from __future__ import annotations


def volume_mount(volume: str, target: str, *, is_read_only: bool = False) -> str:
    """Return the value of ``--mount`` for a volume of the engine."""
    return f"type=volume,source={volume},target={target}" + (",readonly" if is_read_only else "")


def mount(source: str, target: str, *, is_read_only: bool = False) -> str:
    """Return the value of ``--mount``: comma-separated values, in which a field with a comma or a quote is quoted."""
    fields = ["type=bind", _field(f"source={source}"), _field(f"target={target}")]
    return ",".join([*fields, "readonly"] if is_read_only else fields)


def _field(text: str) -> str:
    if not any(character in text for character in ',"\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
