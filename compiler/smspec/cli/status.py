"""``smspec status``: the status of a training job in SageMaker, or of the jobs of all specs in a directory."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import (
    add_aws_arguments,
    aws_failures,
    described_job,
    is_job_name,
    job_name,
    job_service,
    service_in,
)
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError, table
from smspec.cli.named_job import JobInRegion, placed_job
from smspec.cli.submission import RUN_ID_TAG, commit_lines, commit_record, submissions
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput, count
from smspec.diagnostics.quoting import visible
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import assembly, read_spec_files
from smspec.pipeline.spec_discovery import find_job_specs
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

HELP = """\
Show the status of a training job in SageMaker. For a directory or a spec, show the jobs of all specs and overlays as
they are now: a changed spec is a new job, with a different name. If the newest job of a spec was made for a --run-id,
status shows it on a separate line.

Exit status: 0 done, whatever the status of a job; 1 there is no such job, or no region for one; 3 AWS cannot be called.
A spec about which AWS cannot be asked is shown as unknown, with the others."""

_MOST_FAULTS = 2
"""Specs of one region for which AWS is asked without an answer."""

_WITH_ERRORS, _UNKNOWN, _DIFFERENT = "the spec has errors", "unknown", "a different job"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Submitted:
    """A job of a spec. ``job`` None: it has never been submitted, or is what ``state`` says; ``note`` is why."""

    spec: str
    name: str
    job: TrainingJob | None
    run_id: str | None = None
    state: str = "not submitted"
    note: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="NAME|DIR",
        nargs="?",
        default=os.curdir,
        help="a job, or a path, with a dot or slash, to a spec or directory (default: .)",
    )
    add_aws_arguments(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="format of the result on stdout")


def run(args: argparse.Namespace, console: Console) -> int:
    if is_job_name(args.what):
        return _show_job(args, console)
    if not os.path.exists(args.what):
        raise UsageError(f"`{visible(args.what)}`: no such file or directory, and not the name of a training job")
    return _show_specs(args, console)


def _show_job(args: argparse.Namespace, console: Console) -> int:
    # Imported late: boto3 takes a second to import.
    from smspec.cli.job_follower import (
        diagnosis_with_log,
        end_lines,
        final_metrics,
        job_record,
        known_prices,
        moment,
        progress_text,
        transition_line,
    )

    with aws_failures():
        service = job_service(args, console)
        with Waiting(console).of(f"SageMaker in {service.region}"):
            service, job = described_job(service, job_name(args.what))
            tags = _tags(service, job)
        diagnosis = diagnosis_with_log(service, job, console)
    if args.format == "json":
        record = {**job_record(job, diagnosis), **commit_record(tags), "run_id": tags.get(RUN_ID_TAG)}
        console.content(f"{json.dumps(record, indent=2)}\n")
        return 0
    prices = known_prices()
    lines = [f"{job.name}, {job.instances}, created {moment(job.created)}" if job.instances else job.name]
    lines += [f"run id: {visible(tags[RUN_ID_TAG])}"] if RUN_ID_TAG in tags else []
    lines += commit_lines(tags)
    lines += [transition_line(each) for each in job.transitions]
    if job.is_over:
        lines += end_lines(job, prices, args.profile, diagnosis)
        lines += [f"metric {name}: {value:g}" for name, value in final_metrics(job)]
    else:
        lines.append(progress_text(job, prices, datetime.now(timezone.utc)))
    console.result("".join(f"{visible(line)}\n" for line in lines), has_verdict=True)
    return 0


def _tags(service: JobService, job: TrainingJob) -> dict[str, str]:
    """Return the tags of a job; none if the credentials may not read them, because its status needs none."""
    from smspec.submission.client import AccessDenied

    try:
        return service.tags(job)
    except AccessDenied:
        return {}


def _show_specs(args: argparse.Namespace, console: Console) -> int:
    cache = InputCache()
    specs = find_job_specs([args.what], cache).jobs
    if not specs:
        raise CommandRefused(f"`{visible(args.what)}` has no job spec; `smspec validate` shows the errors of specs")
    from smspec.cli.job_follower import job_record

    faults: list[tuple[str, Exception]] = []
    found = [each for spec in specs for each in _submitted(spec, args, cache, console, faults)]
    reasons = dict.fromkeys(str(fault) for _, fault in faults)
    if len(reasons) == 1 and all(each.note in reasons for each in found):
        raise faults[0][1]
    if args.format == "json":
        records = [
            {
                "spec": each.spec,
                "name": each.name,
                "run_id": each.run_id,
                "job": each.job and job_record(each.job),
                "note": each.note or (each.state if each.state == _DIFFERENT else None),
            }
            for each in found
        ]
        console.content(f"{json.dumps(records, indent=2)}\n")
    else:
        console.result(table([("SPEC", "JOB", "STATUS", "TIME"), *_rows(found)]), has_verdict=True)
    for each in found:
        if each.note:
            console.say(f"{visible(each.spec)}: {visible(each.note)}")
    return max((3 if isinstance(fault, ResourceUnavailable) else 1 for _, fault in faults), default=0)


def _submitted(
    spec: str, args: argparse.Namespace, cache: InputCache, console: Console, faults: list[tuple[str, Exception]]
) -> Iterator[_Submitted]:
    """Yield the jobs of a spec and of each of its overlays.

    ``faults`` gets the region and the reason where AWS cannot be asked: the other specs are shown nevertheless.
    """
    overlays: list[str | None] = [None]
    try:
        overlays += assembly(read_spec_files(spec, cache), cache).overlays
    except InvalidInput as rejected:
        yield _with_errors(spec, rejected)
        return
    for overlay in overlays:
        which = f"{spec} ({overlay})" if overlay else spec
        region = ""
        try:
            with aws_failures():
                variant = {**vars(args), "overlay": overlay, "set": [], "root": None}
                placed = placed_job(spec, argparse.Namespace(**variant))
                region = placed.region
                # AWS may be out of reach: each further call would wait for it as long.
                same = [fault for where, fault in faults if where == region and isinstance(fault, ResourceUnavailable)]
                if len(same) >= _MOST_FAULTS:
                    raise same[-1]
                service = service_in(args, region, console, placed.job.plan.queue)
                wait = f"SageMaker in {service.region} about {visible(which)}"
                yield from Waiting(console).each(wait, _submitted_variant(which, placed, service))
        except InvalidInput as rejected:
            yield _with_errors(which, rejected)
        except (CommandRefused, ResourceUnavailable) as fault:
            faults.append((region, fault))
            yield _Submitted(spec=which, name="", job=None, state=_UNKNOWN, note=str(fault))


def _with_errors(which: str, rejected: InvalidInput) -> _Submitted:
    """Return a spec with errors, of which the first is named: it may be in a base spec, or in a policy."""
    errors = [
        f": {each.code} at {each.span.file}:{each.span.line}: {each.message}"
        for each in rejected.diagnostics
        if each.severity == "error"
    ]
    others = f", and {count(len(errors) - 1, 'more error')}" if len(errors) > 1 else ""
    return _Submitted(
        spec=which, name="", job=None, state=_WITH_ERRORS, note=f"{_WITH_ERRORS}{''.join(errors[:1])}{others}"
    )


def _submitted_variant(which: str, placed: JobInRegion, service: JobService) -> Iterator[_Submitted]:
    """Yield the newest job of each alternative, and the newest one with a run id, if that is newer than all others."""
    from smspec.cli.spec_jobs import jobs_named, jobs_of_spec
    from smspec.submission.ownership import DifferentJob

    sent = submissions(placed.job, None)
    for number, each in enumerate(sent, 1):
        spec = f"{which} (alternative {number})" if len(sent) > 1 else which
        if which.endswith(")") and len(sent) > 1:
            spec = f"{which[:-1]}, alternative {number})"
        try:
            jobs = jobs_named(service, [each])
        except DifferentJob:
            yield _Submitted(spec=spec, name=each.name, job=None, state=_DIFFERENT)
            continue
        job = jobs[0].job if jobs else None
        yield _Submitted(spec=spec, name=job.name if job else each.name, job=job)
    try:
        newest = jobs_of_spec(service, placed.job, None).newest
    except DifferentJob:  # and no other
        return
    if newest is not None and newest.run_id is not None:
        yield _Submitted(spec=which, name=newest.job.name, job=newest.job, run_id=newest.run_id)


def _rows(found: Sequence[_Submitted]) -> Iterator[tuple[str, ...]]:
    from smspec.cli.job_follower import elapsed

    now = datetime.now(timezone.utc)
    for each in found:
        job = each.job
        if job is None:
            yield visible(each.spec), visible(each.name), each.state, ""
            continue
        status = job.status if job.secondary in ("", job.status) else f"{job.status}, {job.secondary}"
        run_id = "" if each.run_id is None else f" (run id {visible(each.run_id)})"
        yield f"{visible(each.spec)}{run_id}", visible(each.name), visible(status), elapsed(job.seconds(now))
