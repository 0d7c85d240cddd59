"""The job that a command line names, and its region.

A job is named by its own name, or by its spec, whose path has a dot or a slash. The name counts before a file of that
name: `stop` must not take one for the other.

A spec decides its region, by `region` or by an image in Amazon ECR, which SageMaker only accepts in the region of the
job. If it leaves the region open, that of the command line, the environment, or the profile is compiled into the job;
nothing decides it after the checks.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import described_job, is_job_name, job_service, service_in
from smspec.cli.console import CommandRefused, Console, UsageError
from smspec.cli.spec_arguments import add_variation_arguments, settings, single_spec, spec_job
from smspec.cli.submission import AUTOMATIC, submissions
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import visible
from smspec.pipeline.compilation import Compiled
from smspec.service.image_reference import parsed_reference
from smspec.service.shapes import member
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""In the order of the AWS CLI."""

_FIPS = re.compile(r"fips-|-fips")
"""What botocore removes from the name of a region (`_normalize_fips_region`)."""


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
            return described_job(service, what)
    what = args.what = single_spec(what, args)
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
    service = service_in(args, placed.region, console, placed.job.plan.queue)
    with Waiting(console).of(f"SageMaker in {service.region}"):
        found = jobs_of_spec(service, placed.job, args.run_id)
    if found.newest is None:
        raise CommandRefused(
            f"`{visible(what)}`: its job `{name}` does not exist in {service.region}; run `smspec submit`"
        )
    console.remark(found.line(what))
    return service, found.newest.job


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInRegion:
    """A job, compiled for its ``region``, which is empty if nothing names one. ``origin``: what names it."""

    job: Compiled
    region: str
    origin: str


def placed_job(spec: str, args: argparse.Namespace) -> JobInRegion:
    """Return the job of a spec in the variant of the arguments, and its region.

    Raise `InvalidInput` for a job with errors, in its region too, and `UsageError` for a `--region` that contradicts
    the spec.
    """
    job = spec_job(spec, args)
    region, origin = region_of(job)
    if region:
        check_region(args.region, region, origin, spec)
        _check_real(region, origin)
        return JobInRegion(job=job, region=region, origin=origin)
    region, origin = _region_of_the_caller(args)
    _check_real(region, origin)
    if region and job.facts.names_itself:
        raise CommandRefused(
            f"`job_name: {job.facts.job_name.text}` is one name for all regions, and {origin} decides the region:"
            f" set `region: {visible(region)}` in {visible(spec)}"
        )
    return JobInRegion(job=spec_job(spec, args, region) if region else job, region=region, origin=origin)


def region_of(job: Compiled) -> tuple[str, str]:
    """Return the region that a spec decides, and the key that does; both empty if it leaves the region open."""
    if job.job.region:
        return job.job.region, "`region`"
    image = parsed_reference(str(member(job.plan.request.payload, "AlgorithmSpecification", "TrainingImage") or ""))
    return (image.region, "the image") if image is not None and image.region else ("", "")


def check_region(option: str | None, region: str, origin: str, spec: str) -> None:
    """Raise `UsageError` for a ``--region`` that contradicts a spec."""
    if option and option != region:
        raise UsageError(
            f"--region is {visible(option)}, but {origin} in {visible(spec)} is in {region}; remove --region, or change"
            " the spec"
        )


def _check_real(region: str, origin: str) -> None:
    """Raise `CommandRefused` for a pseudo region: botocore calls a different region than the one that was judged."""
    real = _FIPS.sub("", region)
    if real != region:
        raise CommandRefused(
            f"{origin} is `{visible(region)}`, but AWS would create the job in `{visible(real)}`: set that region,"
            " and AWS_USE_FIPS_ENDPOINT=true for FIPS endpoints"
        )


def _region_of_the_caller(args: argparse.Namespace) -> tuple[str, str]:
    if args.region:
        return args.region, "--region"
    for name in _VARIABLES:
        if os.environ.get(name):
            return os.environ[name], name
    # Imported late: boto3 takes a second to import.
    from smspec.submission.client import region_of_profile

    return region_of_profile(args.profile), "the profile"
