"""``smspec import``: print an existing job as a spec. (``import`` is a keyword, hence the underscore.)"""

from __future__ import annotations

import argparse

from smspec.cli.aws_arguments import aws_failures, credentials_wait, is_job_name, show_choice
from smspec.cli.console import CommandRefused, Console, UsageError
from smspec.cli.parser import add_quiet_argument
from smspec.cli.submission import OWN_TAGS
from smspec.cli.waiting import Waiting
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.importer.sdk.notebook import MAX_BYTES as MOST_NOTEBOOK_BYTES
from smspec.importer.sdk.notebook import is_sdk_program
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.source_reader import MOST_BYTES, read_source, read_sources
from smspec.importer.sources import imported, imported_jobs
from smspec.source.frozen import replace
from smspec.spec.layers.variables import OptionError
from smspec.workspace.command_line_file import STANDARD_INPUT, content_of

HELP = """\
Print a job spec that compiles to the same request as an existing training job. The input is a CreateTrainingJob
request or DescribeTrainingJob output (JSON or YAML), a training or tuning job in Kubernetes, a tuning job, a service
job of AWS Batch, a Step Functions state machine, a SageMaker pipeline, a CloudFormation or SAM template with one of
these, a plan or state of Terraform as JSON, the name of a job in SageMaker, or a notebook or Python program that uses
the SageMaker SDK. A program is read but not run. Parameters, and values that are known only at run time, become
variables of the spec.

-o DIR writes the spec and the code of the job to a new directory: files next to a program, those that cells of a
notebook write, and the archive in S3 of a job in SageMaker. A program or definition with several jobs gives one spec
for each, named after the job.

Members with no equivalent are listed on stderr and in a closing comment.
Exit status: 0 done; 1 no training job found, or the printed spec has errors to fix."""

FILE_NAME = "job.yaml"
"""The file name of the printed spec in findings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument(
        "source",
        metavar="FILE|NAME",
        help="a file, with a dot or slash in its path, - for standard input, or the name of a job in SageMaker",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write the spec, or those of all jobs, and their code to a new directory"
    )
    parser.add_argument(
        "--job",
        "--state",
        metavar="JOB",
        help="which job of the file: its number, or the name of its variable, state, step, or resource",
    )
    parser.add_argument("--profile", metavar="P", help="AWS profile used to look up NAME")
    parser.add_argument("--region", metavar="R", help="AWS region of the job NAME")


def run(args: argparse.Namespace, console: Console) -> int:
    # Imported late: `--help` and completion need none of it.
    from smspec.cli.import_directory import check_new, imported_spec, write_directory, write_job

    if args.output is None:
        (found,) = _found(args, console)
        spec = imported_spec(found, console, FILE_NAME)
        console.content(spec.text)
        return 1 if spec.has_errors else 0
    check_new(args.output)  # before AWS is called
    jobs = _found(args, console)
    if is_job_name(args.source):
        return write_job(jobs[0], args, console)
    program = None if args.source == STANDARD_INPUT else args.source
    return write_directory(lambda _: jobs, args.output, program, console)


def _found(args: argparse.Namespace, console: Console) -> tuple[Imported, ...]:
    """Return the job that is asked for; with -o, all jobs of the source."""
    source: str = args.source
    is_name = is_job_name(source)
    if not is_name and (args.profile or args.region):
        raise UsageError("--profile and --region require the name of a job in SageMaker, not a file")
    try:
        if is_name:
            return (_described(args, console),)
        name = "<stdin>" if source == STANDARD_INPUT else source
        if is_sdk_program(name):
            program = found_jobs(name, content_of(source, MOST_NOTEBOOK_BYTES, "a notebook"))
            has_choice = args.job is not None or args.output is None or not program.jobs
            choices = [args.job] if has_choice else [str(number) for number in range(1, len(program.jobs) + 1)]
            return tuple(imported_job(program, choice) for choice in choices)
        content = content_of(source, MOST_BYTES, "a request", dash_is_input=True)
        all_jobs = args.output is not None
        documents = read_sources(name, content) if all_jobs and args.job is None else [read_source(name, content)]
        return tuple(
            replace(found, left_out=(*found.left_out, *read.left_out))
            for read in documents
            for found in imported_jobs(read.data, args.job, all_jobs=all_jobs)
        )
    except OptionError as error:
        raise UsageError(str(error)) from error
    except RequestNotFound as nothing:
        raise CommandRefused(f"`{source}`: {nothing}") from nothing


def _described(args: argparse.Namespace, console: Console) -> Imported:
    # Imported late: boto3 takes a second to import, and files are the usual case.
    from smspec.submission.aws_errors import AwsUnavailable, JobRefused
    from smspec.submission.client import described, sagemaker_client, tags_of

    name: str = args.source
    show_choice(name, console)
    console.remark(f"looking up the training job `{name}` in SageMaker")
    with aws_failures():
        with credentials_wait(console):
            client = sagemaker_client(args.profile, args.region)
        waiting, sagemaker = Waiting(console), f"SageMaker in {client.meta.region_name}"
        with waiting.of(sagemaker):
            answer = described(client, name)
        try:
            with waiting.of(sagemaker):
                tags = tags_of(client, name, answer["TrainingJobArn"])
                tags = [tag for tag in tags if not tag["Key"].startswith(OWN_TAGS)]
        except (JobRefused, AwsUnavailable) as fault:
            found = imported(answer)
            return replace(found, not_imported=(*found.not_imported, NotImported(("Tags",), str(fault))))
    return imported({**answer, "Tags": tags} if tags else answer)
