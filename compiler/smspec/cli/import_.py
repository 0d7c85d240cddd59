"""``smspec import``: print an existing job as a spec. (``import`` is a keyword, hence the underscore.)"""

from __future__ import annotations

import argparse
import os

from smspec.cli.aws_arguments import aws_failures, is_job_name
from smspec.cli.command_errors import CommandRefused, UsageError
from smspec.cli.console import Console
from smspec.diagnostics import InvalidInput
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.importer.request_equality import differences
from smspec.importer.sdk.agreement import expected_request
from smspec.importer.sdk.notebook import MAX_BYTES as MOST_NOTEBOOK_BYTES
from smspec.importer.sdk.notebook import is_sdk_program
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.source_reader import read_source
from smspec.importer.sources import imported
from smspec.importer.spec_writer import WrittenSpec, write_spec
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.in_memory_inputs import in_memory_inputs
from smspec.service.json.limits import MAX_BYTES
from smspec.source import SourceText
from smspec.source.frozen import replace
from smspec.source.path import dotted
from smspec.spec.layers.option_errors import OptionError
from smspec.workspace.command_line_file import STANDARD_INPUT, content_of

HELP = """\
Print a job spec that compiles to the same request as an existing training job. The input is a CreateTrainingJob
request or DescribeTrainingJob output (JSON or YAML), a TrainingJob of the ACK controller, a Step Functions state or
state machine, the name of a job in SageMaker, or a notebook or Python program that uses the SageMaker SDK. A program
is read but not run: values that are known only at run time become variables of the spec.

Members with no equivalent are listed on stderr and in a closing comment.
Exit status: 0 done; 1 no training job found, or the printed spec has errors to fix."""

FILE_NAME = "job.yaml"
"""The file name of the printed spec in findings."""

_FAULTY = "\n# This spec has errors; `smspec validate` shows them.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE|NAME", help="a file, - for standard input, or the name of a job in SageMaker"
    )
    parser.add_argument("--job", metavar="JOB", help="which job of a notebook or program: its number or variable")
    parser.add_argument("--profile", metavar="P", help="AWS profile used to look up NAME")
    parser.add_argument("--region", metavar="R", help="AWS region of the job NAME")


def run(args: argparse.Namespace, console: Console) -> int:
    found = _found(args, console)
    written = write_spec(found)
    for name in written.settings:
        console.say(f"variable `{name}` has no value: only a run of the source has it")
    if written.additions:
        console.say(f"added by the SDK: {', '.join(written.additions)}")
    for part in written.not_imported:
        console.say(f"not imported: {part}")
    if written.left_out:
        console.say(f"ignored, not part of a request: {', '.join(written.left_out)}")
    fault = _fault(found, written, console)
    console.result(written.text + (_FAULTY if fault else ""))
    return 1 if fault else 0


def _fault(found: Imported, written: WrittenSpec, console: Console) -> bool:
    """Compile the spec, compare the requests, print the errors, and return whether there are any."""
    text = SourceText(FILE_NAME, written.text)
    try:
        compilation = compile_spec(in_memory_inputs(text, written.settings, written.script))
    except InvalidInput as rejected:
        compilation = Faulty(diagnostics=rejected.diagnostics, texts=rejected.texts)
    if compilation.diagnostics:
        console.warned(compilation.diagnostics, compilation.texts)
    if not isinstance(compilation, Compiled):
        return True
    payload = dict(compilation.plan.request.payload)
    if "TrainingJobName" not in written.request:
        del payload["TrainingJobName"]
    expected = expected_request(replace(found, request=written.request), payload)
    unlike = [dotted(path) for path in differences(payload, expected)]
    for place in unlike:
        console.say(f"not imported: {place}: smspec sends a different value")
    return bool(unlike)


def _found(args: argparse.Namespace, console: Console) -> Imported:
    source: str = args.source
    is_name = not os.path.lexists(source) and is_job_name(source)
    if not is_name and (args.profile or args.region):
        raise UsageError("--profile and --region require the name of a job in SageMaker, not a file")
    try:
        if is_name:
            return _described(args, console)
        name = "<stdin>" if source == STANDARD_INPUT else source
        if is_sdk_program(name):
            return imported_job(found_jobs(name, content_of(source, MOST_NOTEBOOK_BYTES, "a notebook")), args.job)
        if args.job is not None:
            raise UsageError("--job requires a notebook or a program in Python, with the extension .ipynb or .py")
        read = read_source(name, content_of(source, MAX_BYTES, "a request", dash_is_input=True))
        found = imported(read.data)
        return replace(found, left_out=(*found.left_out, *read.left_out))
    except OptionError as error:
        raise UsageError(str(error)) from error
    except RequestNotFound as nothing:
        raise CommandRefused(f"`{source}`: {nothing}") from nothing


def _described(args: argparse.Namespace, console: Console) -> Imported:
    # Imported late: boto3 takes a second to import, and files are the usual case.
    from smspec.submission.aws_errors import AwsUnavailable, JobRefused
    from smspec.submission.client import sagemaker_client
    from smspec.submission.describing import described, tags_of

    name: str = args.source
    console.say(f"no file `{name}`; looking up the training job `{name}` in SageMaker")
    with aws_failures():
        client = sagemaker_client(args.profile, args.region)
        answer = described(client, name)
        try:
            tags = tags_of(client, name, answer["TrainingJobArn"])
        except (JobRefused, AwsUnavailable) as fault:
            found = imported(answer)
            return replace(found, not_imported=(*found.not_imported, NotImported(("Tags",), str(fault))))
    return imported({**answer, "Tags": tags} if tags else answer)
