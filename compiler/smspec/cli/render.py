"""``smspec render``: print one generated file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator

from smspec.cli.console import CommandRefused, Console, UsageError
from smspec.cli.spec_arguments import (
    add_changed_argument,
    add_variation_arguments,
    compiled,
    compiled_all,
    default_directory,
    searched_specs,
)
from smspec.diagnostics.quoting import visible
from smspec.pipeline.compilation import Compiled
from smspec.render import TARGETS
from smspec.render.tree import NothingToRender, Rendering

HELP = """\
Print one generated file.

With -o, write it for each job to a file in DIR, such as NAME.json, and replace existing files. Several jobs and
--changed require -o. If some specs have errors, smspec writes the files of the others, and exits with status 1."""

_OF_ONE_REQUEST = ("api-json", "ack", "terraform")
_BESIDE_THE_QUEUE = ("ack", "step-functions", "terraform")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="job specs, or directories to search (default: job.yaml)"
    )
    add_changed_argument(parser)
    add_variation_arguments(parser)
    parser.add_argument("-o", "--output", metavar="DIR", help="write a file for each job to this directory")
    group = parser.add_mutually_exclusive_group(required=True)
    for name, target in TARGETS.items():
        # `--iam-policy=role` is an option with its whole name, so that `--iam-policy SPEC` cannot be misread.
        options = [f"--{spelling}" for spelling in (name, *target.also)]
        group.add_argument(*options, dest="target", action="store_const", const=name, help=target.meaning)
    group.add_argument(
        "--batch",
        metavar="QUEUE",
        nargs="?",
        const="",
        help="the SubmitServiceJob request for a job queue of AWS Batch (default: `queue` of the spec)",
    )
    parser.add_argument("--origins", action="store_true", help="with --spec: add the file and line of each value")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.origins and args.target != "spec":
        raise UsageError("--origins requires --spec")
    if args.batch:
        _check_queue(args)
    if args.output is not None:
        suffix = ".batch.json" if args.batch is not None else TARGETS[args.target].suffix
        return write_renderings(args, console, lambda job: _rendering(args, job), suffix)
    specs = () if args.changed is not None else searched_specs(args)
    if len(specs) != 1:
        raise UsageError("several jobs can be rendered only to files; add `-o DIR`")
    (args.spec,) = specs
    job = compiled(args, console)
    try:
        rendering = _rendering(args, job)
    except NothingToRender as nothing:
        raise CommandRefused(str(nothing)) from nothing
    console.content(rendering.text)
    for note in (*rendering.notes, *_of_the_first(args.target, job), *_without_the_queue(args.target, job)):
        console.say(f"smspec: {visible(note)}")
    return 0


def _check_queue(args: argparse.Namespace) -> None:
    """Raise `UsageError` for a word after ``--batch`` that is neither a queue nor, with a dot or slash, a path."""
    # Imported late: it is rarely requested.
    from smspec.rules.queues import is_queue

    if is_queue(args.batch):
        return
    if not args.paths and ("." in args.batch or "/" in args.batch):
        args.paths, args.batch = [args.batch], ""
        return
    raise UsageError(f"--batch: `{visible(args.batch)}` is not the name or the ARN of a job queue")


def _service_job(args: argparse.Namespace, job: Compiled) -> Rendering:
    """Return the request that `smspec submit` sends for a job in a queue."""
    # Imported late, like all that is rendered.
    from smspec.cli.submission import submissions
    from smspec.render.batch import service_job_text
    from smspec.spec.model import Queue

    queue = job.plan.queue or Queue(name=args.batch)
    if not queue.name:
        raise UsageError("--batch: the spec has no `queue`; add it, or pass --batch=QUEUE")
    if args.batch and queue.name != args.batch:
        raise UsageError(
            f"--batch is `{visible(args.batch)}`, but `queue.name` is `{visible(queue.name)}`; remove one of them"
        )
    return service_job_text(submissions(job, None)[0].whole_request, queue)


def _without_the_queue(target: str | None, job: Compiled) -> Iterator[str]:
    """Yield that a text does not put the job into its queue."""
    if job.plan.queue is not None and target in _BESIDE_THE_QUEUE:
        yield "this creates the job in SageMaker, not in its queue; --batch prints the request for `queue`"


def _rendering(args: argparse.Namespace, job: Compiled) -> Rendering:
    """Return the text for a job. Raise `NothingToRender`, and `UsageError` for a job that the target cannot contain."""
    if args.batch is not None and job.plan.others:
        raise UsageError(
            "--batch: AWS Batch waits for the instances of one request, and `hosts.any_of` has"
            f" {len(job.plan.requests)} alternatives; use --step-functions, or `smspec submit`"
        )
    if args.origins:
        # Imported late, like all that is rendered.
        from smspec.render.spec_yaml import spec_yaml

        return Rendering(text=spec_yaml(job.inputs.document, origins=True))
    if args.batch is not None:
        return _service_job(args, job)
    inputs = job.inputs
    return TARGETS[args.target].render(job.plan, inputs.build_inputs, inputs.document, inputs.script_texts)


def _of_the_first(target: str | None, job: Compiled) -> Iterator[str]:
    """Yield that a text is about one of several alternatives."""
    if job.plan.others and target in _OF_ONE_REQUEST:
        yield (
            f"this is the first of {len(job.plan.requests)} alternatives in `hosts.any_of`; `smspec submit` and"
            " --step-functions use all of them"
        )


def write_renderings(
    args: argparse.Namespace, console: Console, render: Callable[[Compiled], Rendering], suffix: str
) -> int:
    """Write the text of each job to ``args.output``, print the paths, and return the exit status.

    A job without such a text is named, and has no file.
    """
    # Imported late, as below: most often one text is printed.
    from smspec.output.atomic_file import write_whole
    from smspec.workspace.deferred_signals import signals_interrupt

    found = compiled_all(args, console)
    files: dict[str, tuple[str, Compiled]] = {}
    for spec, job in found.jobs:
        file = default_directory(args.output, job) + suffix
        other, _ = files.setdefault(file, (spec, job))
        if other != spec:
            raise UsageError(f"`{other}` and `{spec}` both belong in {file}; render them to different directories")
    with signals_interrupt():
        for file, (spec, job) in files.items():
            try:
                rendering = render(job)
            except NothingToRender as nothing:
                console.say(visible(f"{spec}: {nothing}"))
                continue
            os.makedirs(os.path.dirname(file) or os.curdir, exist_ok=True)
            write_whole(file, rendering.text)
            console.result(f"{visible(file)}\n")
            for note in rendering.notes:
                console.say(visible(f"{spec}: {note}"))
    if found.invalid is not None:
        console.warned(found.invalid.diagnostics, found.invalid.texts)
    return 0 if found.invalid is None else 1
