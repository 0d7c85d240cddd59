"""A review as JSON: a list of jobs, each with its changes. The shape is documented in docs/diff.md."""

from __future__ import annotations

import json

from smspec.review.comparison import Comparison
from smspec.review.job_review import JobReview, ReportedChange
from smspec.review.missing_comparisons import Reason, Uncompared
from smspec.source import dotted


def records(comparison: Comparison) -> str:
    """Return the differences and what could not be compared as ASCII JSON; an empty list if all is equal."""
    unknown = {job.file: job for job in comparison.uncompared}
    jobs = [_job(review, unknown.pop(review.file, None)) for review in comparison.reviews]
    return json.dumps([*jobs, *map(_unknown, unknown.values())], indent=2) + "\n"


def _unknown(job: Uncompared) -> dict[str, object]:
    return {
        "job": job.name,
        "file": job.file,
        "old_file": job.file,
        "status": "not_compared",
        "verdict": "",
        "changes": [],
        "not_compared": [_reason(reason) for reason in job.reasons],
    }


def _reason(reason: Reason) -> dict[str, object]:
    return {
        "side": reason.side,
        "code": reason.first.code,
        "message": reason.first.message,
        "file": reason.first.span.file,
        "line": reason.first.span.line,
        "more": reason.more,
        "as_is": None in reason.overlays,
        "overlays": [overlay for overlay in reason.overlays if overlay is not None],
    }


def _job(review: JobReview, unknown: Uncompared | None) -> dict[str, object]:
    return {
        "job": review.name,
        "file": review.file,
        "old_file": review.old_file,
        "status": review.status,
        "verdict": review.verdicts[0][1] if review.verdicts else "",
        "changes": [_change(reported) for reported in review.reported],
        "not_compared": [_reason(reason) for reason in unknown.reasons] if unknown else [],
    }


def _change(reported: ReportedChange) -> dict[str, object]:
    change = reported.change
    return {
        "kind": change.kind,
        "path": dotted(change.path),
        "old": change.old,
        "new": change.new,
        "what": change.what,
        "file": change.file,
        "line": change.line,
        "percent": None if change.rise is None else round(float(change.rise), 2),
        "as_is": reported.as_is,
        "overlays": list(reported.overlays),
    }
