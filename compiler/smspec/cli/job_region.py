"""The region in which a command looks for, or creates, the job of a spec. Nothing decides it after the checks.

A spec decides its region, by `region` or by an image in Amazon ECR, which SageMaker only accepts in the region of the
job. If it leaves the region open, that of the command line, the environment, or the profile is compiled into the job.
"""

from __future__ import annotations

import argparse
import os
import re

from smspec.cli.command_errors import CommandRefused, UsageError
from smspec.cli.spec_arguments import spec_job
from smspec.diagnostics.visible import visible
from smspec.pipeline.compilation import Compiled
from smspec.service.image_reference import parsed_reference
from smspec.service.members import member
from smspec.source.frozen import dataclass

_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""In the order of the AWS CLI."""

_FIPS = re.compile(r"fips-|-fips")
"""What botocore removes from the name of a region (`_normalize_fips_region`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJob:
    """A job, compiled for its ``region``, which is empty if nothing names one. ``origin``: what names it."""

    job: Compiled
    region: str
    origin: str


def placed_job(spec: str, args: argparse.Namespace) -> PlacedJob:
    """Return the job of a spec in the variant of the arguments, and its region.

    Raise `InvalidInput` for a job with errors, in its region too, and `UsageError` for a `--region` that contradicts
    the spec.
    """
    job = spec_job(spec, args)
    region, origin = region_of(job)
    if region:
        check_region(args.region, region, origin, spec)
        _check_real(region, origin)
        return PlacedJob(job=job, region=region, origin=origin)
    region, origin = _region_of_the_caller(args)
    _check_real(region, origin)
    if region and job.facts.names_itself:
        raise CommandRefused(
            f"`job_name: {job.facts.job_name.text}` is one name for all regions, and {origin} decides the region:"
            f" set `region: {visible(region)}` in {visible(spec)}"
        )
    return PlacedJob(job=spec_job(spec, args, region) if region else job, region=region, origin=origin)


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
