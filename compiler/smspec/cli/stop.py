"""``smspec stop``: stop a training job in SageMaker."""

from __future__ import annotations

import argparse

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures, job_words
from smspec.cli.console import Console
from smspec.cli.named_job import add_spec_variant_arguments, named_job
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import visible

HELP = """\
Stop a training job in SageMaker. SageMaker sends SIGTERM to its hosts, and kills them after 120 s; what they saved in
the model directory is uploaded. For a spec, stop its newest job.

Exit status: 0 the job stops, or is over; 1 there is no such job; 3 AWS cannot be called."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="NAME|SPEC", help="a job in SageMaker, or its spec")
    add_spec_variant_arguments(parser)
    add_aws_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    # Imported late: boto3 takes a second to import.
    from smspec.submission.client import JobRefused

    with aws_failures():
        service, job = named_job(args, console)
        name = job.name
        if not job.is_alive:
            console.say(f"{name}: {visible(job.status)} already")
            return 0
        waiting, sagemaker = Waiting(console), f"SageMaker in {service.region}"
        try:
            with waiting.of(sagemaker):
                service.stop(name)
        except JobRefused:
            # It may have ended since: SageMaker refuses to stop a job that is over.
            with waiting.of(sagemaker):
                job = service.describe(name)
            if job.is_alive:
                raise
            console.say(f"{name}: {visible(job.status)} already")
            return 0
    console.say(f"{name}: stopping; `smspec logs {job_words(job, args.profile)} --follow` shows its end")
    return 0
