"""Runs of a job as values, with a model on the disk, for tests that start no process."""

from __future__ import annotations

from pathlib import Path

from smspec.local.record.summary import Summary
from smspec.local.watch.metric_counts import MetricCount, MetricValues
from smspec.rehearsal.trial import CheckpointChange, Line, Timeline, Trial


def trial(
    directory: Path, model: dict[str, bytes], metrics: dict[str, list[float]] | None = None, run: Timeline | None = None
) -> Trial:
    """Write the model of a completed run with one host; return the run."""
    for name, content in model.items():
        path = directory / "hosts" / "algo-1" / "opt" / "ml" / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    counts = tuple(
        MetricCount(
            name=name,
            matches=len(values),
            numbers=len(values),
            last=str(values[-1]),
            cut=None,
            values=(MetricValues(metric=name, host="algo-1", count=len(values), every=1, values=tuple(values)),),
        )
        for name, values in (metrics or {}).items()
    )
    summary = Summary(
        job="job",
        status="Completed",
        job_status=0,
        failed=None,
        failure_reason="",
        seconds=1.0,
        hosts=(),
        flows=(),
        model=None,
        output=None,
        logs="",
        report="",
        metrics=counts,
    )
    return Trial(
        name=directory.name,
        directory=str(directory),
        summary=summary,
        timeline=run or Timeline(),
        hosts=("algo-1",),
        checkpoints="opt/ml/checkpoints",
    )


def timeline(*events: str, ended_at: float = 10.0) -> Timeline:
    """Return a run of events such as ``1.5 line`` and ``2 write state.json``, seconds first."""
    run = Timeline()
    run.ended_at = ended_at
    for event in events:
        seconds, kind, *rest = event.split()
        if kind == "line":
            run.lines.append(Line(seconds=float(seconds), host="algo-1", text=" ".join(rest)))
        else:
            run.changes.append(
                CheckpointChange(
                    seconds=float(seconds),
                    host="algo-1",
                    path=rest[0],
                    kind={"write": "written", "rename": "renamed", "remove": "removed"}[kind],
                    source=rest[1] if len(rest) > 1 else None,
                    lines=len(run.lines),
                )
            )
    return run
