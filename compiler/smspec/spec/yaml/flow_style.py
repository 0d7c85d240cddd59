"""A value as one line of YAML, in the style of the spec's own documents."""

from __future__ import annotations

import json
import re

from smspec.spec.yaml.plain_text import is_text_everywhere

_PLAIN = re.compile(r"[A-Za-z0-9./_-](?:[A-Za-z0-9 ./_@+=:-]*[A-Za-z0-9./_@+=-])?")


def flow_style(value: object) -> str:
    """Return ``value`` in flow style, with quotes only where they are needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_style(str(key))}: {flow_style(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_style(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and ": " not in value and not value.startswith("- ") and is_text_everywhere(value):
        return value
    # Single quotes keep backslashes, so the regular expressions of metrics stay readable.
    return "'" + value.replace("'", "''") + "'" if "\\" in value else json.dumps(value, ensure_ascii=False)
