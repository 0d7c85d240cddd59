"""The result of ``smspec build --format json``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from smspec.output.output_differences import Difference
from smspec.plan.plan import Plan
from smspec.render.tree import FileTree
from smspec.service.cost_summary import JobCost


def build_report(
    plan: Plan, tree: FileTree, directory: str, cost: JobCost | None, stale: Sequence[Difference] | None = None
) -> str:
    """Return one JSON object. ``stale``: what ``--check`` found; None after a build.

    Instance time is in seconds; amounts of money are per currency, as far as there are prices.
    """
    image = plan.image
    report = {
        "job": plan.name,
        "training_job_name": plan.request.payload["TrainingJobName"],
        "directory": directory,
        "status": "written" if stale is None else "out of date" if stale else "up to date",
        "image": None if image is None else image.uri,
        "files": [file.path for file in tree.files],
        "uploads": tree.uploads,
        "differences": [{"path": one.path, "kind": one.kind} for one in stale or ()],
        "cost_ceiling": None
        if cost is None
        else {"instance_seconds": cost.seconds, "amounts": {key: float(value) for key, value in cost.amounts.items()}},
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
