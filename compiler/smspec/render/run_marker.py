"""``run.json``: the marker of a directory that a local run wrote; it is never part of a source or a build."""

from __future__ import annotations

import json

RUN_MARKER = "run.json"
_KIND = "smspec run"


def run_marker_json(job: str, status: str) -> bytes:
    """Return the content of the marker of a run."""
    return (json.dumps({"kind": _KIND, "job": job, "status": status}) + "\n").encode("ascii")


def is_run_marker(content: bytes) -> bool:
    """Return whether a file of that name is the marker of a run."""
    return _marker(content).get("kind") == _KIND


def is_unfinished(content: bytes, job: str) -> bool:
    """Return whether it marks an incomplete run of this job."""
    marker = _marker(content)
    return marker.get("job") == job and marker.get("status") != "Completed"


def _marker(content: bytes) -> dict[str, object]:
    try:
        marker = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return marker if isinstance(marker, dict) else {}
