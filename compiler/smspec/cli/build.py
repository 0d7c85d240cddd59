"""``smspec build``: write the build directory of a spec."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import CommandRefused, ResourceUnavailable
from smspec.cli.console import Console
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import add_spec_arguments, compiled, default_directory
from smspec.cli.verbosity import add_verbosity_arguments
from smspec.diagnostics.visible import visible
from smspec.output.failures import OutputFailed, OutputRefused
from smspec.output.output_differences import Difference, differences
from smspec.output.writing import write_tree
from smspec.pipeline.compiled_digest import compiled_digest
from smspec.render.tree import UPLOAD, FileTree
from smspec.render.tree_rendering import render_tree
from smspec.service.cost_summary import cost_line, job_cost

HELP = """\
Generate the build directory of a spec: Dockerfile, entrypoint, runtime, source, and request.

Run `docker build DIR` and `aws sagemaker create-training-job --cli-input-json file://DIR/create-training-job.json`
on it without changes. Builds are reproducible. smspec never overwrites a directory it did not create."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="output directory (default: build/NAME, with an overlay build/NAME.OVERLAY)",
    )
    add_verbosity_arguments(
        parser, quiet="show only warnings, errors, and the result", verbose="also list the files of the directory"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="result on stdout: the directory, or one JSON object"
    )
    parser.add_argument("--check", action="store_true", help="write no files; exit 1 if DIR is out of date")


def run(args: argparse.Namespace, console: Console) -> int:
    job = compiled(args, console)
    directory = args.output or default_directory("build", job)

    tree = render_tree(job.plan, job.inputs.build_inputs, compiled_digest(job.plan))
    try:
        with signals_interrupt():
            stale = differences(tree, directory) if args.check else None
            if stale is None:
                write_tree(tree, directory)
    except OutputRefused as refusal:
        raise CommandRefused(str(refusal)) from refusal
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    cost = job_cost(job.plan.request.payload, job.inputs.prices, job.job.region)
    if args.format == "json":
        # Imported late: a person reads the text.
        from smspec.cli.build_report import build_report

        console.result(build_report(job.plan, tree, directory, cost, stale))
    elif stale is None:
        console.result(f"{directory}\n")
    else:
        console.result("".join(f"{visible(str(difference))}\n" for difference in stale))
    if stale is not None:
        _remark_on_check(stale, directory, console)
        return 1 if stale else 0
    _remark_on_build(tree, console)
    if cost is not None:
        console.remark(cost_line([cost]))
    return 0


def _remark_on_check(stale: list[Difference], directory: str, console: Console) -> None:
    if stale:
        console.say(f"{directory} is out of date; run `smspec build`")
    else:
        console.remark(f"{directory} is up to date")


def _remark_on_build(tree: FileTree, console: Console) -> None:
    for file in tree.files:
        console.detail(f"  {visible(file.path)}")
    console.remark(f"wrote {len(tree.files)} files")
    if any(file.path.startswith(UPLOAD) for file in tree.files):
        console.remark(
            f"before you start the job, copy `{UPLOAD}` to S3; `uploads` in manifest.json lists the URI of each file"
        )
