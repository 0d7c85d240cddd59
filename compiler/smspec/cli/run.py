"""``smspec run``: run the job on this machine."""

from __future__ import annotations

import argparse
import gc
import os
from dataclasses import replace

from smspec.cli.console import Console
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.run_arguments import (
    add_engine_argument,
    add_run_arguments,
    byte_count,
    byte_rate,
    channel_data,
    engine_of,
    memory_size,
    run_request,
    stall_seconds,
    write_generated_files,
)
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import add_spec_arguments, compiled, default_directory
from smspec.cli.waiting import Waiting
from smspec.diagnostics import placed
from smspec.local.feeder.plan import Injection
from smspec.local.running.local_run import run_locally
from smspec.pipeline.compilation import compiled_digest
from smspec.render.tree_rendering import render_tree
from smspec.workspace.temporary_directory import temporary_directory

HELP = """\
Run the job on this machine with the files that `smspec build` generates. Each host gets its own /opt/ml directory and
its channels as SageMaker provides them. Needs no AWS account, and Docker only for `--engine docker`.

smspec installs the job's Python packages into an environment in its cache, never into your Python.

Exit status: 0 the job completed; 1 the job failed; 3 smspec could not run it on this machine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    add_engine_argument(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 3 if the run differs from SageMaker for this job"
    )
    add_verbosity_arguments(
        parser,
        quiet="show only warnings, errors, and the result",
        verbose="also show times, and the measurements that the runtime logs",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="result on stdout: a table, or summary.json"
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory_size,
        help="memory of each host, such as 16GB; auto is that of its instance type (default: no limit)",
    )
    parser.add_argument("--rate", metavar="R", type=byte_rate, help="limit per Pipe channel and host, such as 50MB/s")
    parser.add_argument(
        "--stall",
        metavar="S",
        type=stall_seconds,
        help="fault injection: pause each Pipe stream for S halfway through an epoch",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--truncate", metavar="N", type=byte_count, help="fault injection: end each Pipe stream after N bytes"
    )
    ends.add_argument(
        "--kill-writer", action="store_true", help="fault injection: kill the stream writer halfway through an epoch"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="run directory (default: run/NAME, with an overlay run/NAME.OVERLAY)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    data = channel_data(args.data)
    engine = engine_of(args.engine, os.environ)
    job = compiled(args, console)
    tree = render_tree(job.plan, job.inputs.build_inputs, compiled_digest(job.plan))
    # From here on it may take minutes or hours.
    gc.set_threshold(700)
    with signals_interrupt(), temporary_directory() as temporary:
        directory = args.output or default_directory("run", job)
        request = replace(
            run_request(args, job, directory, temporary, data, engine),
            waits=Waiting(console).of,
            rate=args.rate,
            memory=args.memory,
            injection=_injection(args),
            is_strict=args.strict,
            verbosity=console.verbosity,
            prints_json=args.format == "json",
            predicts=True,
            prices=job.inputs.prices.of(job.plan.request.payload, job.job.region),
        )
        write_generated_files(tree, request)
        outcome = run_locally(job.job, job.plan, tree, request, console)
    if outcome.findings:
        console.warned(placed(outcome.findings, job.inputs.document), job.texts)
    return outcome.exit_status


def _injection(args: argparse.Namespace) -> Injection | None:
    if args.stall is None and args.truncate is None and not args.kill_writer:
        return None
    return Injection(stall=args.stall or 0, truncate=args.truncate, kill_writer=args.kill_writer)
