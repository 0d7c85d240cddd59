"""A review as JSON: a list of jobs, each with its changes. The shape is documented in docs/diff.md.

The list stays a list, because scripts read it: equal changes share a number in `group` instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from smspec.review.change import ReportedChange
from smspec.review.change_groups import Key, change_key, shared_changes
from smspec.review.comparison import Comparison, Reason, Uncompared
from smspec.review.fail_on import Failure
from smspec.review.job_review import JobReview
from smspec.service.cost_ceiling import Ceiling
from smspec.source import dotted


def records(comparison: Comparison, failures: Iterable[Failure] = ()) -> str:
    """Return the differences and what could not be compared as ASCII JSON; an empty list if all is equal.

    ``failures``: what `--fail-on` fails.
    """
    failed: dict[int, list[Failure]] = {}
    for failure in failures:
        failed.setdefault(id(failure.review), []).append(failure)
    unknown = {job.file: job for job in comparison.uncompared}
    numbers = shared_changes(comparison.reviews)
    jobs = [
        _job(review, unknown.pop(review.file, None), numbers, failed.get(id(review), ()))
        for review in comparison.reviews
    ]
    settings = ({**_job(review, None, {}, failed.get(id(review), ())), "job": ""} for review in comparison.settings)
    return json.dumps([*settings, *jobs, *map(_unknown, unknown.values())], indent=2) + "\n"


def _unknown(job: Uncompared) -> dict[str, object]:
    return {
        "job": job.name,
        "file": job.file,
        "old_file": job.file,
        "status": "not_compared",
        "verdict": "",
        "cost_ceiling": {"old": None, "new": None},
        "changes": [],
        "not_compared": [_reason(reason) for reason in job.reasons],
        "failed": [],
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


def _job(
    review: JobReview, unknown: Uncompared | None, numbers: Mapping[Key, int], failures: Iterable[Failure]
) -> dict[str, object]:
    return {
        "job": review.name,
        "file": review.file,
        "old_file": review.old_file,
        "status": review.status,
        "verdict": review.verdicts[0][1] if review.verdicts else "",
        "cost_ceiling": {"old": _ceiling(review.ceilings[0]), "new": _ceiling(review.ceilings[1])},
        "changes": [_change(reported, numbers) for reported in review.reported],
        "not_compared": [_reason(reason) for reason in unknown.reasons] if unknown else [],
        "failed": [_failure(failure) for failure in failures],
    }


def _failure(failure: Failure) -> dict[str, object]:
    change = failure.first.change
    return {
        "gate": failure.gate,
        "kind": failure.kind,
        "limit": None if failure.limit is None else float(failure.limit),
        "message": failure.message(),
        "path": dotted(change.path),
        "file": change.file,
        "line": change.line,
        "percent": None if change.rise is None else round(float(change.rise), 2),
        "as_is": failure.first.as_is,
        "overlays": list(failure.first.overlays),
        "more": len(failure.reported) - 1,
    }


def _ceiling(ceiling: Ceiling | None) -> dict[str, object] | None:
    return None if ceiling is None else ceiling.record


def _change(reported: ReportedChange, numbers: Mapping[Key, int]) -> dict[str, object]:
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
        "group": numbers.get(change_key(reported)),
    }
