"""The result of ``smspec build --format json``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from smspec.cli.job_build import JobBuild


def build_report(builds: Sequence[JobBuild], *, is_one: bool) -> str:
    """Return one JSON object, or an array of them for directories and several specs.

    Instance time is in seconds; amounts of money are per currency, as far as there are prices.
    """
    reports = [_report(build) for build in builds]
    return json.dumps(reports[0] if is_one else reports, indent=2) + "\n"


def _report(build: JobBuild) -> dict[str, object]:
    plan, stale, cost, published = build.job.plan, build.stale, build.cost, build.published
    report: dict[str, object] = {
        "job": plan.name,
        "training_job_name": plan.request.payload["TrainingJobName"],
        "directory": build.directory,
        "status": "written" if stale is None else "out of date" if stale else "up to date",
        "image": None if plan.image is None else plan.image.uri,
        "files": [file.path for file in build.tree.files],
        "uploads": build.tree.uploads,
        "differences": [{"path": one.path, "kind": one.kind} for one in stale or ()],
        "cost_ceiling": None
        if cost is None
        else {"instance_seconds": cost.seconds, "amounts": {key: float(value) for key, value in cost.amounts.items()}},
    }
    if published is not None:
        report |= {"image_status": published.status, "image_digest": published.digest}
        if published.archive is not None:
            report["image_archive"] = published.archive
    return report
