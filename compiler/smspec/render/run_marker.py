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
    return _marker(content).get("kind") == _KIND


def is_unfinished(content: bytes, job: str) -> bool:
    """Whether it marks a run of this very job that did not complete."""
    marker = _marker(content)
    return marker.get("job") == job and marker.get("status") != "Completed"


def _marker(content: bytes) -> dict[str, object]:
    try:
        marker = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return marker if isinstance(marker, dict) else {}
