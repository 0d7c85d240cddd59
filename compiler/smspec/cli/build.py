"""``smspec build``: everything that is generated from a spec, as one tree of files."""

from __future__ import annotations

import argparse
import os

from smspec.cli.console import Console
from smspec.cli.spec_arguments import add_spec_arguments, compiled
from smspec.pipeline.compilation import Compiled
from smspec.pipeline.spec_digest import spec_digest

HELP = """\
Write everything that is generated from a spec as one tree of files: Dockerfile, entrypoint, runtime, source, request.

`docker build TREE` and `aws sagemaker create-training-job --cli-input-json file://TREE/create-training-job.json` take
it as it is. The same input gives the same bytes. A directory that smspec did not write is left alone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="the tree itself (default: build/NAME, with an overlay build/NAME.OVERLAY)",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if DIR is not what would be written")


def run(args: argparse.Namespace, console: Console) -> int:
    job = compiled(args, console)
    directory = args.output or default_directory(job)

    # Late: a spec with faults needs none of this, and the templates take a while to load.
    from smspec.render.tree_rendering import render_tree

    tree = render_tree(job.plan, job.inputs.ingredients, spec_digest(job.inputs))
    if args.check:
        from smspec.output.checking import differences

        stale = differences(tree, directory)
        console.result("".join(f"{line}\n" for line in stale))
        console.say(f"{directory} is {'not ' if stale else ''}what the spec makes")
        return 1 if stale else 0

    from smspec.output.writing import write_tree

    write_tree(tree, directory)
    console.result(f"{directory}\n")
    console.say(f"wrote {len(tree.files)} files")
    return 0


def default_directory(job: Compiled) -> str:
    """Return where a tree is written when nobody says: below ``build`` in the current directory."""
    overlay = job.inputs.overlay
    return os.path.join("build", f"{job.plan.name}.{overlay}" if overlay else job.plan.name)
