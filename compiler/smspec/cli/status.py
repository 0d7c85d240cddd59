"""``smspec status``: the status of a training job in SageMaker, or of the jobs of all specs in a directory."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures, is_job_name, job_name, job_service
from smspec.cli.command_errors import CommandRefused, UsageError
from smspec.cli.console import Console
from smspec.cli.dated_file_command import table
from smspec.cli.git_tags import commit_lines, commit_record
from smspec.diagnostics.visible import visible
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import validate_specs
from smspec.source.frozen import dataclass
from smspec.spec.layers.assembly import OptionError

if TYPE_CHECKING:
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

HELP = """\
Show the status of a training job in SageMaker. For a directory or a spec, show the jobs of all specs and overlays as
they are now: a changed spec is a new job, with a different name. Jobs that submit made for a --run-id are not among
them; show them by their names.

Exit status: 0 done, whatever the status of a job; 1 there is no such job; 3 AWS cannot be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Submitted:
    """A job of a spec. ``job`` None: it has never been submitted."""

    spec: str
    name: str
    job: TrainingJob | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="NAME|DIR", nargs="?", default=os.curdir, help="a job, a spec, or a directory (default: .)"
    )
    add_aws_arguments(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="format of the result on stdout")


def run(args: argparse.Namespace, console: Console) -> int:
    if os.path.exists(args.what):
        return _show_specs(args, console)
    if not is_job_name(args.what):
        raise UsageError(f"`{visible(args.what)}`: no such file or directory, and not the name of a training job")
    return _show_job(args, console)


def _show_job(args: argparse.Namespace, console: Console) -> int:
    # Imported late: boto3 takes a second to import.
    from smspec.cli.job_follower import known_prices
    from smspec.cli.job_lines import end_lines, moment, progress_text, transition_line
    from smspec.cli.job_record import job_record, metrics

    with aws_failures():
        service = job_service(args)
        job = service.describe(job_name(args.what))
        tags = _tags(service, job)
    if args.format == "json":
        console.content(f"{json.dumps({**job_record(job), **commit_record(tags)}, indent=2)}\n")
        return 0
    prices = known_prices()
    lines = [f"{job.name}, {job.instances}, created {moment(job.created)}" if job.instances else job.name]
    lines += commit_lines(tags)
    lines += [transition_line(each) for each in job.transitions]
    if job.is_over:
        lines += end_lines(job, prices, args.profile)
        lines += [f"metric {name}: {value:g}" for name, value in metrics(job)]
    else:
        lines.append(progress_text(job, prices, datetime.now(timezone.utc)))
    console.result("".join(f"{line}\n" for line in lines))
    return 0


def _tags(service: JobService, job: TrainingJob) -> dict[str, str]:
    """Return the tags of a job; none if the credentials may not read them, because its status needs none."""
    from smspec.submission.aws_errors import AccessDenied

    try:
        return service.tags(job)
    except AccessDenied:
        return {}


def _show_specs(args: argparse.Namespace, console: Console) -> int:
    try:
        result = validate_specs([args.what], None, {}, InputCache())
    except OptionError as error:
        raise UsageError(str(error)) from error
    if not result.jobs:
        raise CommandRefused(f"`{visible(args.what)}` has no job spec; `smspec validate` shows the errors of specs")
    from smspec.cli.job_record import job_record

    found = []
    services = {}
    with aws_failures():
        from smspec.submission.aws_errors import JobRefused

        for facts in result.jobs:
            region = args.region or facts.region
            if region not in services:
                services[region] = job_service(args, region)
            for number, name in enumerate((facts.job_name.text, *facts.alternatives), 1):
                try:
                    job = services[region].describe(name)
                except JobRefused:
                    job = None
                which = [facts.overlay or "", f"alternative {number}" if facts.alternatives else ""]
                variant = ", ".join(filter(None, which))
                spec = f"{facts.file} ({variant})" if variant else facts.file
                found.append(_Submitted(spec=spec, name=name, job=job))
    if args.format == "json":
        records = [{"spec": each.spec, "name": each.name, "job": each.job and job_record(each.job)} for each in found]
        console.content(f"{json.dumps(records, indent=2)}\n")
    else:
        console.result(table([("SPEC", "JOB", "STATUS", "TIME"), *_rows(found)]))
    return 0


def _rows(found: Sequence[_Submitted]) -> Iterator[tuple[str, ...]]:
    from smspec.cli.job_lines import elapsed

    now = datetime.now(timezone.utc)
    for each in found:
        job = each.job
        if job is None:
            yield visible(each.spec), each.name, "not submitted", ""
            continue
        status = job.status if job.secondary in ("", job.status) else f"{job.status}, {job.secondary}"
        yield visible(each.spec), each.name, status, elapsed(job.seconds(now))
