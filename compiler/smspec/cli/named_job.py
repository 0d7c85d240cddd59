"""The job that a command line names: by its own name, or by its spec, whose path has a dot or a slash.

The name counts before a file of that name: `stop` must not take one for the other.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import is_job_name, job_service, service_in
from smspec.cli.command_errors import CommandRefused, UsageError
from smspec.cli.console import Console
from smspec.cli.job_region import placed_job
from smspec.cli.spec_arguments import add_variation_arguments, settings
from smspec.cli.submission import AUTOMATIC, submissions
from smspec.cli.waiting import Waiting
from smspec.diagnostics.visible import visible

if TYPE_CHECKING:
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob


def add_spec_variant_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that select a job of a spec."""
    add_variation_arguments(parser)
    parser.add_argument("--run-id", metavar="ID", help="the job that submit has made for this ID")


def named_job(args: argparse.Namespace, console: Console) -> tuple[JobService, TrainingJob]:
    """Return the job of ``args.what``, and the service of its region; for a spec, its newest job, after naming it.

    Raise `UsageError`, `CommandRefused`, `InvalidInput` for a spec with errors, and as `aws_failures` converts.
    """
    what: str = args.what
    if is_job_name(what):
        if args.overlay or args.run_id is not None or settings(args):
            raise UsageError(f"-O, --set, and --run-id select a job of a spec, but `{what}` is the name of a job")
        service = job_service(args, console)
        with Waiting(console).of(f"SageMaker in {service.region}"):
            return service, service.describe(what)
    if not os.path.isfile(what):
        raise UsageError(
            f"`{visible(what)}` is neither a spec nor the name of a training job: letters, digits, and single hyphens"
        )
    if args.run_id == AUTOMATIC:
        raise UsageError("--run-id auto is a new ID each time; pass the ID of a submission, or the name of the job")
    # Imported late: boto3 takes a second to import.
    from smspec.cli.spec_jobs import jobs_of_spec

    placed = placed_job(what, args)
    name = submissions(placed.job, args.run_id)[0].name
    service = service_in(args, placed.region, console)
    with Waiting(console).of(f"SageMaker in {service.region}"):
        found = jobs_of_spec(service, placed.job, args.run_id)
    if found.newest is None:
        raise CommandRefused(
            f"`{visible(what)}`: its job `{name}` does not exist in {service.region}; run `smspec submit`"
        )
    console.remark(found.line(what))
    return service, found.newest.job
