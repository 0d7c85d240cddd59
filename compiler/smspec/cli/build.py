"""``smspec build``: write the build directory of a spec."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import CommandRefused, ResourceUnavailable
from smspec.cli.console import Console
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import add_spec_arguments, compiled, default_directory
from smspec.diagnostics.visible import visible
from smspec.output.failures import OutputFailed, OutputRefused
from smspec.output.output_differences import differences
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
    parser.add_argument("--check", action="store_true", help="write no files; exit 1 if DIR is out of date")


def run(args: argparse.Namespace, console: Console) -> int:
    job = compiled(args, console)
    directory = args.output or default_directory("build", job)

    tree = render_tree(job.plan, job.inputs.build_inputs, compiled_digest(job.plan))
    try:
        with signals_interrupt():
            if args.check:
                return _checked(tree, directory, console)
            status = _written(tree, directory, console)
    except OutputRefused as refusal:
        raise CommandRefused(str(refusal)) from refusal
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    cost = job_cost(job.plan.request.payload, job.inputs.prices, job.job.region)
    if cost is not None:
        console.say(cost_line([cost]))
    return status


def _checked(tree: FileTree, directory: str, console: Console) -> int:
    stale = differences(tree, directory)
    console.result("".join(f"{visible(str(difference))}\n" for difference in stale))
    if stale:
        console.say(f"{directory} is out of date; run `smspec build`")
        return 1
    console.say(f"{directory} is up to date")
    return 0


def _written(tree: FileTree, directory: str, console: Console) -> int:
    write_tree(tree, directory)
    console.result(f"{directory}\n")
    console.say(f"wrote {len(tree.files)} files")
    if any(file.path.startswith(UPLOAD) for file in tree.files):
        console.say(
            f"before you start the job, copy `{UPLOAD}` to S3; `uploads` in manifest.json lists the URI of each file"
        )
    return 0
