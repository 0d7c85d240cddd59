"""A review as JSON: a list of jobs, each with its changes. The shape is documented in docs/diff.md."""

from __future__ import annotations

import json
from collections.abc import Iterable

from smspec.review.job_review import JobReview, Told
from smspec.source import dotted


def records(reviews: Iterable[JobReview]) -> str:
    """Return the reviews as JSON in ASCII; an empty list when nothing changed."""
    return json.dumps([_job(review) for review in reviews], indent=2) + "\n"


def _job(review: JobReview) -> dict[str, object]:
    return {
        "job": review.name,
        "file": review.file,
        "old_file": review.old_file,
        "status": review.status,
        "verdict": review.verdicts[0][1] if review.verdicts else "",
        "changes": [_change(told) for told in review.told],
    }


def _change(told: Told) -> dict[str, object]:
    change = told.change
    return {
        "kind": change.kind,
        "path": dotted(change.path),
        "old": change.old,
        "new": change.new,
        "what": change.what,
        "file": change.file,
        "line": change.line,
        "percent": None if change.rise is None else round(float(change.rise), 2),
        "as_is": told.as_is,
        "overlays": list(told.overlays),
    }
