"""A value as one line of YAML, the way the spec's own documents write it."""

from __future__ import annotations

import json
import re

from smspec.spec.yaml.scalars import meaning

_PLAIN = re.compile(r"[A-Za-z0-9./_-](?:[A-Za-z0-9 ./_@+=:-]*[A-Za-z0-9./_@+=-])?")
_ELSEWHERE = frozenset(("yes", "no", "on", "off", "y", "n", "true", "false", "null"))
"""Words that some readers of YAML take for something else than text."""


def flow_style(value: object) -> str:
    """Return ``value`` in flow style, with quotes only where they are needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_style(str(key))}: {flow_style(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_style(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and ": " not in value and not value.startswith("- ") and not _means_more(value):
        return value
    # Single quotes leave backslashes alone, and so the expressions of metrics readable.
    return "'" + value.replace("'", "''") + "'" if "\\" in value else json.dumps(value, ensure_ascii=False)


def _means_more(text: str) -> bool:
    """Return whether a reader of YAML, ours or another, could take a plain ``text`` for more than text."""
    looks_like_a_number = text[0].isdigit() and (text.upper() == text.lower() or text[:2].lower() in ("0x", "0o", "0b"))
    return meaning(text) != text or text.lower() in _ELSEWHERE or looks_like_a_number
