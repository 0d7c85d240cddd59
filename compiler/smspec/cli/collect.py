"""``smspec collect``: the model and the output of a job, checked, unpacked, and merged in one directory.

A job that failed is collected too, with exit status 1, as `submit` ends for it: scripts go on with the model.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures, is_job_name, job_words
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.named_job import add_spec_variant_arguments, named_job
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.spec_arguments import single_spec
from smspec.cli.waiting import Waiting
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.output.writing import (
    COLLECTING,
    as_output_failed,
    check_replaceable,
    made_directory,
    put_directory,
)
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory

if TYPE_CHECKING:
    from smspec.collection.collecting import CollectedResult
    from smspec.collection.result_tree import StoredResult

HELP = """\
Download the model and the output of a job in SageMaker, check and unpack them, and merge the files of its hosts. For a
spec, this is its newest job; for the directory of a local run, what the run wrote.

The files of hosts are parts of one file if their names differ only in that of the host, as part-algo-1.csv and
part-algo-2.csv. --merge concat joins them; csv keeps one header, which must be the same in all; npy joins arrays along
their first axis; a command gets the parts as arguments, and writes the whole to its standard output.

Exit status: 0 the job completed, and its result is in DIR; 1 the job goes on, failed, or was stopped (what it left is
in DIR then), or its result is damaged, or its parts do not fit together; 3 AWS cannot be called, or DIR not written."""

_STATEMENTS = {
    "sagemaker:DescribeTrainingJob": "RunJobsOfThisName",
    "sagemaker:ListTags": "RunJobsOfThisName",
    "sagemaker:ListTrainingJobs": "FindJobsByName",
    "s3:GetObject": "ReadResults",
    "s3:ListBucket": "ListBucket",
    "kms:Decrypt": "ReadEncryptedResults",
}
"""Permission → the statement of the submitter's policy that allows it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="NAME|SPEC|RUNDIR",
        help="a job in SageMaker, or a path, with a dot or slash: of its spec, or of the directory of a local run",
    )
    add_spec_variant_arguments(parser)
    parser.add_argument("-o", "--output", metavar="DIR", help="output directory (default: collect/NAME)")
    parser.add_argument(
        "--merge",
        metavar="HOW",
        type=_merge,
        default=(),
        help="merge the files of hosts: concat, csv, npy, or a command",
    )
    add_aws_arguments(parser)
    add_verbosity_arguments(
        parser, quiet="show only warnings and errors", verbose="also show the parts of merged files"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="result on stdout: paths, or JSON")


def run(args: argparse.Namespace, console: Console) -> int:
    # Imported late: boto3 takes a second to import.
    from smspec.submission.client import ActionDenied

    with signals_interrupt(), aws_failures():
        try:
            result = _result(args, console)
            directory = args.output or os.path.join("collect", _base_name(args.what, result))
            collected = _collected(result, directory, args, console)
        except ActionDenied as denied:
            raise ResourceUnavailable(f"{denied}{_advice(denied.action)}") from denied
    _print(result, directory, collected, args, console)
    if collected.fault:
        raise CommandRefused(f"`{directory}` has the result, but --merge made nothing: {collected.fault}")
    if result.status != "Completed":
        console.say(f"the job `{result.job}` is {result.status}; `{directory}` has what it left")
        return 1
    return 0


def _merge(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        words = ()
    if not words:
        raise argparse.ArgumentTypeError(f"expected concat, csv, npy, or a command, got `{text}`")
    return words


def _base_name(what: str, result: StoredResult) -> str:
    from smspec.collection.collecting import is_run_directory

    is_run = not is_job_name(what) and is_run_directory(what)
    return os.path.basename(os.path.realpath(what)) if is_run else result.job


def _check_path(args: argparse.Namespace) -> None:
    """Raise `UsageError` for a path at which there is neither a spec nor a directory with one."""
    from smspec.pipeline.spec_discovery import NoJobs

    try:
        if os.path.exists(single_spec(args.what, args)):
            return
        why = "does not exist, and is not the name of a job"
    except NoJobs:
        why = "was not written by a run, and has no job spec"
    raise UsageError(f"`{visible(args.what)}` {why}; `smspec status` shows the names of jobs")


def _result(args: argparse.Namespace, console: Console) -> StoredResult:
    from smspec.collection.collecting import is_run_directory, run_result

    is_name = is_job_name(args.what)
    if not is_name and is_run_directory(args.what):
        return run_result(args.what, lambda text: console.say(f"warning: {visible(text)}"))
    if not is_name:
        _check_path(args)
    from smspec.collection.s3_result import s3_result
    from smspec.submission.s3_service import RegionalS3

    service, job = named_job(args, console)
    if not job.is_over:
        raise CommandRefused(
            f"the job `{job.name}` is {job.status}, so it has no result yet;"
            f" `smspec logs {job_words(job, args.profile)} --follow` waits"
        )
    with Waiting(console).of(f"S3 about the result of `{job.name}`"):
        return s3_result(job, RegionalS3(args.profile, service.region), args.profile)


def _collected(result: StoredResult, directory: str, args: argparse.Namespace, console: Console) -> CollectedResult:
    from smspec.cli.waiting import transfer_progress
    from smspec.collection.collecting import collect
    from smspec.local.record.units import size

    if result.files:
        console.remark(f"{result.place}: {count(len(result.files), 'file')}, {size(result.size)}")
    warnings: list[str] = []
    parent = os.path.dirname(os.path.realpath(directory))
    check_replaceable(directory)  # before gigabytes are downloaded
    with as_output_failed(directory), made_directory(parent), temporary_directory(parent, COLLECTING) as place:
        with transfer_progress(f"collecting {result.job}", result.size, console) as advance:
            collected = collect(result, place, args.merge, warnings.append, advance)
        put_directory(place, directory)
    for text in warnings:
        console.say(f"warning: {visible(text)}")
    for group in collected.merged:
        console.detail(f"{group.merged}: {', '.join(group.parts)}")
    return collected


def _advice(action: str) -> str:
    statement = _STATEMENTS.get(action)
    if statement is None:
        return "; allow it in an IAM policy of your user or role"
    return f"; the statement `{statement}` of `smspec render SPEC --iam-policy=submitter` allows it"


def _print(
    result: StoredResult, directory: str, collected: CollectedResult, args: argparse.Namespace, console: Console
) -> None:
    from smspec.collection.collecting import MERGED

    merged = [(os.path.join(directory, MERGED, group.merged), group.parts) for group in collected.merged]
    kinds = {kind.name: kind for kind in collected.kinds}
    if args.format == "text":
        found = [os.path.join(directory, kind.name) for kind in collected.kinds if kind.files]
        console.result("".join(f"{visible(path)}\n" for path in [*found, *(path for path, _ in merged)]))
        return
    record: dict[str, object] = {"job": result.job, "status": result.status, "directory": directory}
    for name, kind in kinds.items():
        path = os.path.join(directory, name)
        record[name] = {"path": path, "files": kind.files, "size": kind.size} if kind.files else None
    record["merged"] = [{"path": path, "parts": list(parts)} for path, parts in merged]
    console.content(f"{json.dumps(record, indent=2)}\n")
