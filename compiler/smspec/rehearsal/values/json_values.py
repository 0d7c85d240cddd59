"""JSON, or one JSON value per line."""

from __future__ import annotations

import json

from smspec.rehearsal.values.leaf import Leaves, Unreadable, flattened


def decode(data: bytes) -> Leaves:
    """Return the values of a JSON text that is a list or an object, or of JSON lines."""
    if data.lstrip()[:1] not in (b"{", b"["):
        raise Unreadable
    try:
        return dict(flattened(json.loads(data)))
    except (ValueError, RecursionError):
        pass
    try:
        return dict(flattened([json.loads(line) for line in data.splitlines() if line.strip()]))
    except (ValueError, RecursionError):
        raise Unreadable from None
