"""``smspec submit``: create the job of a spec in SageMaker, with all that it needs, and follow it."""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import (
    add_aws_arguments,
    aws_failures,
    credentials_wait,
    job_words,
    service_in,
    spec_words,
)
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.image_arguments import JobBuild, job_build, with_images
from smspec.cli.named_job import JobInRegion, placed_job
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.spec_arguments import add_spec_arguments, single_spec
from smspec.cli.submission import AUTOMATIC, Submission, check_tags, git_tags, new_run_id, submissions
from smspec.cli.submission_plan import data_line, data_plans, difference, local_data, local_data_lines, plan_lines
from smspec.cli.waiting import Waiting
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.output.writing import write_temporary_tree
from smspec.pipeline.compilation import Compiled
from smspec.publishing.publication import BUILDERS
from smspec.source.frozen import replace
from smspec.spec.model import BuiltImage, names_registry
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory

if TYPE_CHECKING:
    from smspec.cli.job_follower import SubmissionState
    from smspec.submission.client import ActionDenied
    from smspec.submission.job_service import JobService
    from smspec.submission.s3_service import RegionalS3
    from smspec.submission.training_job import TrainingJob
    from smspec.submission.uploading import DataPlan, UploadState

HELP = """\
Create the training job of a spec in SageMaker, and follow it to its end. First build and push the image unless its
registry has it, and upload the source unless S3 has it.

The same spec is the same job: submitting it again follows the job that exists, and --again repeats one that failed or
was stopped. If the job gets no instances, the next alternative in `hosts.any_of` follows. A job with `queue` waits in
that queue of AWS Batch. smspec never asks for confirmation; --dry-run shows what would happen.

Exit status: 0 the job completed, or with --detach, exists; 1 the job failed or was stopped, its data are missing, or
AWS rejects it; 3 AWS or the container engine is not available; 130 Ctrl-C, the job goes on."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would happen, and change nothing")
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument("--wait", action="store_true", help="follow the job to its end (the default)")
    waiting.add_argument("--detach", action="store_true", help="return as soon as the job exists")
    parser.add_argument("--again", action="store_true", help="submit a job that failed or was stopped once more")
    parser.add_argument(
        "--run-id", metavar="ID", help="make a separate job for each ID, such as a date; auto is a new ID"
    )
    parser.add_argument(
        "--upload-data", action="store_true", help="first upload the data at `local` of each channel to its `s3` prefix"
    )
    parser.add_argument("--no-build", action="store_true", help="neither build nor push the image")
    parser.add_argument(
        "--engine",
        choices=BUILDERS,
        help="what builds the image, or none (default: SMSPEC_ENGINE, or the first that answers)",
    )
    add_aws_arguments(parser)
    add_verbosity_arguments(
        parser, quiet="show only errors and the log", verbose="also show times, and all lines of the engine"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="result on stdout: name, or JSON")


def run(args: argparse.Namespace, console: Console) -> int:
    args.spec = single_spec(args.spec, args)
    with aws_failures():  # a profile that does not exist
        placed = placed_job(args.spec, args)
    job = placed.job
    console.warned(job.diagnostics, job.texts)
    if args.run_id == AUTOMATIC:
        args.run_id = new_run_id()
        console.remark(f"run id {args.run_id}")
    check_tags(job)
    sent = submissions(job, args.run_id)
    if args.detach and len(sent) > 1:
        raise UsageError(
            "--detach: to go on to the next alternative of `hosts.any_of`, smspec has to follow the job; remove"
            f" --detach, or run the state machine of `smspec render {spec_words(args)} --step-functions`"
        )
    gc.set_threshold(700)  # from here on it may take hours
    with signals_interrupt(), temporary_directory() as directory:
        build = job_build(args.spec, job, os.path.join(directory, "build"))
        # A queue accepts equal requests once, and `render --batch` shows what it gets: a commit changes neither.
        tags = {} if args.dry_run or job.plan.queue is not None else git_tags(build)
        sent = tuple(replace(each, git_tags=tags) for each in sent)
        # Imported late: boto3 takes a second to import.
        from smspec.submission.client import ActionDenied

        with aws_failures():
            try:
                return _submitted(build, placed, sent, args, console)
            except ActionDenied as denied:
                raise ResourceUnavailable(f"{denied}{_statement(denied, job, spec_words(args))}") from denied


def _submitted(
    build: JobBuild,
    placed: JobInRegion,
    all_sent: Sequence[Submission],
    args: argparse.Namespace,
    console: Console,
) -> int:
    show, waiting = console.say if args.dry_run else console.remark, Waiting(console)
    for line in plan_lines(build, all_sent, builds=not args.no_build):
        show(line)
    # Imported late: boto3 takes a second to import.
    from smspec.cli.job_follower import creation
    from smspec.cli.preflight import checked, print_checks
    from smspec.submission.client import has_credentials, role_account
    from smspec.submission.job_creation import JobEnded, create_job, existing_job
    from smspec.submission.s3_service import RegionalS3

    with credentials_wait(console):
        is_anonymous = not has_credentials(args.profile)
    if is_anonymous and args.dry_run:
        files = local_data(build.job, show) if args.upload_data else {}
        if placed.region:
            show(f"region {placed.region}, from {placed.origin}")
        fault = _example_account(build, all_sent)
        nothing = "no AWS credentials, so nothing in AWS was checked; set AWS_PROFILE or log in with `aws`"
        for line in (*local_data_lines(all_sent[0], files), nothing, *([fault] if fault else [])):
            show(line)
        print_checks(all_sent[0], [], args, console)
        return 0
    service = service_in(args, placed.region, console, build.job.plan.queue)
    with credentials_wait(console):
        store = RegionalS3(args.profile, service.region)
    if service.is_in_aws:  # an emulator has any account
        _check_accounts(build, all_sent)
    show(_place(service, placed))
    found = checked(
        build, all_sent, service, store, lambda: _state(service, all_sent, again=args.again), waiting, args, console
    )
    if service.is_in_aws and not args.dry_run:
        # The table has compared the caller; from here on each login is.
        service.require_account(role_account([each.request for each in all_sent]))
    state = found.state
    sent, is_created = all_sent[state.index], state.is_created
    data = list(data_plans(build, store, found.files, console)) if found.files else []
    for line in (*map(data_line, data), *state.lines):
        show(line)
    faults = [difference(each) for each in data if each.differing]
    if faults:
        raise CommandRefused("; ".join(faults))
    if args.dry_run:
        return 0
    if is_created:
        _prepare(build, data, found.deliveries, store, args, console)
    if state.turns is not None:
        from smspec.cli.job_follower import follow_in_turn

        def update_tags(index: int, job: TrainingJob) -> None:
            _update_tags(service, job, all_sent[index], console)

        ended = follow_in_turn(state.turns, service, update_tags, args, console)
        _print(service, ended, args, console)
        return 0 if ended.is_completed else 1
    try:
        if state.job is not None and not is_created:
            created = existing_job(state.job)
        else:
            with creation(service, "the job", console):
                created = create_job(
                    service,
                    sent.created_request,
                    sent.digest,
                    name_is_derived=sent.name_is_derived,
                    again=state.job is not None,
                )
    except JobEnded as ended:
        raise CommandRefused(
            f"{ended}; `smspec status {job_words(ended.job, args.profile)}` shows why, and --again repeats it"
        ) from None
    console.remark(f"{'created' if created.is_new else 'there is already'} the job {created.job.name}")
    if not created.is_new:
        _update_tags(service, created.job, sent, console)
    if args.detach:
        _print(service, created.job, args, console)
        return 0
    return _follow(service, created.job, args, console)


def _check_accounts(build: JobBuild, sent: Sequence[Submission]) -> None:
    """Raise `CommandRefused` for a job that has the account of an example."""
    fault = _example_account(build, sent)
    if fault:
        raise CommandRefused(fault)


def _place(service: JobService, placed: JobInRegion) -> str:
    """Return where the job is created, and what decides it."""
    endpoint = "" if service.is_in_aws else f", at {visible(service.endpoint)}, which is not AWS"
    return f"region {service.region}, from {placed.origin or 'AWS'}{endpoint}"


def _example_account(build: JobBuild, sent: Sequence[Submission]) -> str:
    from smspec.submission.client import example_account_fault

    image, written = build.job.plan.image, build.job.job.image
    is_derived = isinstance(written, BuiltImage) and not names_registry(written.repository or "")
    queue = build.job.plan.queue
    written_in = [*(each.request for each in sent), *([] if queue is None else [queue.name])]
    return example_account_fault(written_in, image.uri if image and is_derived else "")


def _state(service: JobService, sent: Sequence[Submission], *, again: bool) -> SubmissionState:
    from smspec.cli.job_follower import state_of_alternatives, state_of_job

    if len(sent) > 1:
        return state_of_alternatives(service, sent, again=again)
    return state_of_job(service, sent[0], again=again)


def _update_tags(service: JobService, job: TrainingJob, sent: Submission, console: Console) -> None:
    from smspec.submission.job_service import stale_tags

    with Waiting(console).of(f"SageMaker in {service.region} about the tags of `{job.name}`"):
        stale = stale_tags(service, job, sent.tags)
        if stale:
            service.add_tags(job, stale)
        is_moved = service.set_priority(job)
    if stale:
        console.remark(f"changed {count(len(stale), 'tag')} of the job {job.name}")
    if is_moved:
        console.remark(f"changed the priority of the job {job.name}")


def _statement(denied: ActionDenied, job: Compiled, spec: str) -> str:
    """Return which part of the submitter's policy allows what AWS denies."""
    from smspec.publishing.registry_image import allowing_statement

    sid = allowing_statement(job.plan, job.job.region, denied.action)
    if not sid:
        return "; allow it in an IAM policy of your user or role"
    return f"; the statement `{sid}` of `smspec render {spec} --iam-policy=submitter` allows it"


def _prepare(
    build: JobBuild,
    data: Sequence[DataPlan],
    delivered: Sequence[UploadState],
    store: RegionalS3,
    args: argparse.Namespace,
    console: Console,
) -> None:
    """Build, push, and upload what the job needs and is not there."""
    from smspec.submission.uploading import upload_all

    for each in data:
        _upload(each, store, console)
    if build.job.plan.image is not None and not args.no_build:
        write_temporary_tree(build.tree, build.directory)
        with_images([build], args, console, os.environ, pushes=True)
    for delivery in delivered:
        for uri, is_new in upload_all(store, delivery.missing):
            console.detail(f"{'uploaded' if is_new else 'already there:'} {uri}")
        if delivery.missing:
            console.remark(f"uploaded {count(len(delivery.missing), 'file')} to {delivery.prefix}")


def _upload(data: DataPlan, store: RegionalS3, console: Console) -> None:
    from smspec.cli.waiting import transfer_progress
    from smspec.submission.uploading import upload_data

    if data.missing:
        with transfer_progress(f"uploading the data of channel {data.channel}", data.missing_bytes, console) as advance:
            upload_data(store, data, advance)
        console.remark(f"uploaded {count(len(data.missing), 'file')} to {data.uri}")


def _follow(service: JobService, job: TrainingJob, args: argparse.Namespace, console: Console) -> int:
    from smspec.cli.job_follower import follow_job
    from smspec.submission.following import JobLog

    ended = follow_job(service, JobLog(service, job.name), job, console.write, console)
    _print(service, ended, args, console)
    return 0 if ended.is_completed else 1


def _print(service: JobService, job: TrainingJob, args: argparse.Namespace, console: Console) -> None:
    if args.format == "json":
        from smspec.cli.job_follower import diagnosis_with_log, job_record

        record = job_record(job, diagnosis_with_log(service, job, console))
        console.content(f"{json.dumps(record, indent=2)}\n")
    else:
        console.result(f"{visible(job.name)}\n")
