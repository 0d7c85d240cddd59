"""``run.json``: the marker of a directory that a local run wrote; it is never part of a source or a build."""

from __future__ import annotations

import json

from smspec.source.real_file import open_below

RUN_MARKER = "run.json"
_LARGEST = 4096
_KIND = "smspec run"


def run_marker_json(job: str, status: str) -> bytes:
    """Return the content of the marker of a run."""
    return (json.dumps({"kind": _KIND, "job": job, "status": status}) + "\n").encode("ascii")


def marker_in(directory: str) -> bytes:
    """Return the content of the marker of a directory; empty if it has none.

    A script of the run may have replaced it by a FIFO, a device, or a link to one: reading would never end.
    """
    try:
        with open(open_below(directory, (RUN_MARKER,)), "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


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
