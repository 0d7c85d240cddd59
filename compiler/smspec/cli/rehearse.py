"""``smspec rehearse``: run the job under what SageMaker does to it."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Mapping

from smspec.cli.console import Console
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.run import (
    add_engine_argument,
    add_run_arguments,
    channel_data,
    engine_of,
    run_request,
    stall_seconds,
)
from smspec.cli.spec_arguments import add_spec_arguments, compiled, default_directory
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput, placed
from smspec.diagnostics.quoting import visible
from smspec.diagnostics.suggestions import did_you_mean
from smspec.local.engines.choice import builds_images
from smspec.local.running.request import GRACE_SECONDS, RunFailed, RunInterrupted
from smspec.local.running.supervision import name_of
from smspec.output.writing import write_temporary_tree
from smspec.pipeline.compilation import compiled_digest
from smspec.rehearsal.promises import PROMISES, rehearse_job
from smspec.rehearsal.rehearsal import RehearsalRefused, RehearsedJob
from smspec.rehearsal.report import Refusal, Report, junit, text
from smspec.render.tree_rendering import render_tree
from smspec.source.frozen import replace
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory

HELP = """\
Run the job again and again on this machine, each time under something that SageMaker may do to it, such as a Spot
interruption, and show which promises the job keeps. Interrupted jobs start again with their checkpoints and nothing
else; their models and metrics are compared with those of undisturbed runs.

The moments of interruptions are drawn from a seed, which the spec determines.

Exit status: 0 the job keeps all promises; 1 it breaks one, or fails undisturbed; 3 smspec could not run it on this
machine."""

_NAMES = [promise.name for promise in PROMISES]
_FORMATS = {"text": text, "json": Report.to_json, "junit": junit}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    parser.add_argument(
        "--only",
        metavar="FAULT",
        action="append",
        type=_promise,
        choices=_NAMES,
        help=f"rehearse only this promise; may be repeated: {', '.join(_NAMES)}",
    )
    parser.add_argument(
        "--patience",
        metavar="T",
        type=stall_seconds,
        default=60.0,
        help="how much longer than undisturbed a job may take to notice a fault (default: 60s)",
    )
    parser.add_argument("--seed", metavar="N", type=int, help="draw the moments from this number")
    add_engine_argument(parser)
    add_verbosity_arguments(parser, quiet="show only the result", verbose="also show the logs of the hosts")
    parser.add_argument("--format", choices=tuple(_FORMATS), default="text", help="format of the result on stdout")
    add_run_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="directory of the runs (default: rehearsal/NAME, with an overlay rehearsal/NAME.OVERLAY)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    data = channel_data(args.data)
    engine = engine_of(args.engine, os.environ)
    try:
        job = compiled(args, console)
    except InvalidInput as faulty:
        _refuse(Refusal(spec=args.spec, diagnostics=(*faulty.diagnostics,)), args, console)
        raise
    digest = compiled_digest(job.plan)
    tree = render_tree(job.plan, job.inputs.build_inputs, digest, builds_image=builds_images(engine))
    promises = [promise for promise in PROMISES if args.only is None or promise.name in args.only]
    # From here on it may take minutes or hours.
    gc.set_threshold(700)
    with signals_interrupt(), temporary_directory() as temporary:
        directory = args.output or default_directory("rehearsal", job)
        request = replace(
            run_request(args, job, directory, temporary, data, engine),
            waits=Waiting(console).of,
            command="smspec rehearse",
            grace=_grace(os.environ),
            verbosity=console.verbosity,
        )
        seed = args.seed if args.seed is not None else int(digest[:8], 16)
        rehearsed = RehearsedJob(
            job=job.job, plan=job.plan, tree=tree, request=request, seed=seed, patience=args.patience
        )
        write_temporary_tree(tree, request.tree_dir)
        try:
            report = rehearse_job(rehearsed, promises, console)
        except RehearsalRefused as refused:
            diagnostics = placed(refused.findings, job.inputs.document)
            console.warned(diagnostics, job.texts)
            _refuse(Refusal(spec=args.spec, diagnostics=(*diagnostics,)), args, console)
            return 1
        except RunFailed as fault:
            console.say(f"smspec: {visible(str(fault))}")
            _refuse(Refusal(spec=args.spec, sentence=str(fault)), args, console)
            return fault.exit_status
        except RunInterrupted as interrupted:
            console.say(f"smspec: stopped by {name_of(interrupted.number)}")
            return 128 + interrupted.number
    console.result(_FORMATS[args.format](report), has_verdict=args.format == "text")
    return report.exit_status


def _refuse(refusal: Refusal, args: argparse.Namespace, console: Console) -> None:
    """Write the errors as a result too, in the formats for machines."""
    if args.format != "text":
        console.result(refusal.to_json() if args.format == "json" else refusal.to_junit())


def _promise(word: str) -> str:
    """Check the name of a promise; the message of argparse would list them all."""
    if word not in _NAMES:
        hint = did_you_mean(word, _NAMES) or "`smspec rehearse --help` lists them"
        raise argparse.ArgumentTypeError(f"unknown promise `{word}`; {hint}")
    return word


def _grace(variables: Mapping[str, str]) -> float:
    """Return the seconds after SIGTERM; the runtime reads the same variable."""
    try:
        return float(variables.get("SMSPEC_STOP_GRACE", GRACE_SECONDS))
    except ValueError:
        return GRACE_SECONDS
