"""``run.json``: a directory with one is what a local run left, and no part of a source or a build."""

from __future__ import annotations

import json

RUN_MARKER = "run.json"
_KIND = "smspec run"


def run_marker_json(job: str, status: str) -> bytes:
    """Return what the marker of a run says."""
    return (json.dumps({"kind": _KIND, "job": job, "status": status}) + "\n").encode("ascii")


def is_run_marker(content: bytes) -> bool:
    """Tell the marker of a run from any other file of that name."""
    try:
        marker = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(marker, dict) and marker.get("kind") == _KIND
