"""``smspec render``: print one generated file."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import CommandRefused, UsageError
from smspec.cli.console import Console
from smspec.cli.spec_arguments import add_spec_arguments, compiled
from smspec.diagnostics.visible import visible
from smspec.render import TARGETS, NothingToRender

HELP = "Print one generated file."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    for name, target in TARGETS.items():
        # `--iam-policy=role` is an option with its whole name, so that `--iam-policy SPEC` cannot be misread.
        options = [f"--{spelling}" for spelling in (name, *target.also)]
        group.add_argument(*options, dest="target", action="store_const", const=name, help=target.meaning)
    parser.add_argument("--origins", action="store_true", help="with --spec: add the file and line of each value")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.origins and args.target != "spec":
        raise UsageError("--origins requires --spec")
    job = compiled(args, console)
    if args.origins:
        # Imported late, like all that is rendered.
        from smspec.render.spec_yaml import spec_yaml

        console.result(spec_yaml(job.inputs.document, origins=True))
        return 0
    try:
        inputs = job.inputs
        rendering = TARGETS[args.target].render(job.plan, inputs.build_inputs, inputs.document, inputs.script_texts)
    except NothingToRender as nothing:
        raise CommandRefused(str(nothing)) from nothing
    console.result(rendering.text)
    for note in rendering.notes:
        console.say(f"smspec: {visible(note)}")
    return 0
