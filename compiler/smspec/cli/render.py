"""``smspec render``: one of the generated texts, on standard output."""

from __future__ import annotations

import argparse

from smspec.cli.console import Console
from smspec.cli.faults import Refused
from smspec.cli.spec_arguments import add_spec_arguments, compiled
from smspec.render import TARGETS, NothingToRender

HELP = "Print one of the texts that are generated from a spec."

_MEANINGS = {
    "api-json": "the CreateTrainingJob request",
    "dockerfile": "the Dockerfile",
    "entrypoint": "what the container starts",
    "spec": "the spec with its bases, overlay and variables merged in",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    for name in TARGETS:
        group.add_argument(f"--{name}", dest="target", action="store_const", const=name, help=_MEANINGS.get(name))


def run(args: argparse.Namespace, console: Console) -> int:
    job = compiled(args, console)
    try:
        text = TARGETS[args.target](job.plan, job.inputs.ingredients, job.inputs.document)
    except NothingToRender as nothing:
        raise Refused(str(nothing)) from nothing
    console.result(text)
    return 0
