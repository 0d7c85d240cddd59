"""``smspec check``: prove on this machine that a job starts."""

from __future__ import annotations

import argparse
import gc

from smspec.cli.console import Console, ResourceUnavailable
from smspec.cli.parser import QUIET, add_findings_arguments, add_verbosity_arguments, exit_status, show_findings
from smspec.cli.run import add_python_arguments, stall_seconds
from smspec.cli.spec_arguments import add_spec_arguments, root, settings, single_spec
from smspec.diagnostics.quoting import visible
from smspec.pipeline.input_cache import InputCache
from smspec.proof import ProofRequest
from smspec.proof.checking import CheckResult, check_job
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory

HELP = """\
Prove that a job starts. On this machine, with the Python version and the packages of its image: compile the modules of
the training script, import them, and run the script until its parser has read the arguments of the job. Checks the spec
on its own and with each overlay.

Unlike `smspec validate`, this runs code of the script and of its packages: use it only for code that you trust. The
processes have their own home directory and a copy of the source. On Linux they can write nowhere else and have no
network.

Exit status: 0 no errors; 1 errors, or warnings with --strict; 3 the Python or its packages are not available."""

DEFAULT_SECONDS = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    add_findings_arguments(parser)
    add_python_arguments(parser)
    add_verbosity_arguments(parser, quiet=QUIET, verbose="also show each line of pip or uv")
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=stall_seconds,
        default=DEFAULT_SECONDS,
        help=f"limit of each process (default: {DEFAULT_SECONDS:g}s)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    cache = InputCache(root(args))
    args.spec = single_spec(args.spec, args)
    # From here on it may take minutes.
    gc.set_threshold(700)
    with signals_interrupt(), temporary_directory() as temporary:
        request = ProofRequest(
            scratch_dir=temporary,
            python=args.python,
            fetches_python=args.fetch_python,
            may_install=not args.no_install,
            seconds=args.timeout,
            verbosity=console.verbosity,
        )

        def show(line: str) -> None:
            console.remark(visible(line))

        result = check_job(args.spec, args.overlay, settings(args), cache, request, show)
    status = show_findings(result.diagnostics, result.texts, result.summary(), args, console)
    _refuse(result, status)
    return exit_status(result.diagnostics, args)


def _refuse(result: CheckResult, status: int) -> None:
    """Report what this machine lacks, unless the spec has errors anyway."""
    failure = result.failure
    if failure is None or status:
        return
    # The spec may be right: what is missing here may be in the index that the image is built from.
    raise ResourceUnavailable(failure.summary)
