"""``smspec validate``: everything that is wrong with job specs, and with each under each of its overlays."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console
from smspec.cli.findings import add_findings_arguments, exit_status, show_findings
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import add_variation_arguments, root, settings
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import find_job_specs
from smspec.pipeline.validation_result import validate_specs
from smspec.spec.layers.assembly import Misuse
from smspec.workspace.command_line_file import USUAL_SPEC

HELP = """\
Say everything that is wrong with job specs. Each is checked as it is and under each of its overlays.

A directory means the job specs below it: YAML files with a top-level `smspec`, without the bases that others extend.
Several specs are compared too, and the overlays of one: who has whose checkpoints, output or name. --format mermaid
draws which job reads what another writes; findings go to stderr then.
With --api-json, a CreateTrainingJob request gets the same verdict, at its own lines.
Exit status: 0 when nothing is wrong, 1 when something is (warnings count with --strict, notes never)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    parser.add_argument("--api-json", metavar="FILE", help="check a raw CreateTrainingJob request; - reads stdin")
    add_findings_arguments(parser, "mermaid")
    add_variation_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.api_json is not None and args.format == "mermaid":
        raise UsageError("--format mermaid draws the jobs of specs; a request has no others beside it")
    if args.api_json is not None:
        # Late: it reads another kind of file.
        from smspec.cli.validate_request import validate_request

        return validate_request(args, console)
    cache = InputCache(root(args))
    try:
        with signals_interrupt():
            found = find_job_specs(args.paths or [USUAL_SPEC], cache)
            result = validate_specs(found, args.overlay, settings(args), cache)
    except Misuse as misuse:
        raise UsageError(str(misuse)) from misuse

    summary = "\n".join(filter(None, (result.summary(), result.unpinned())))
    if args.format == "mermaid":
        # Late: the graph is asked for now and then.
        from smspec.render.mermaid import mermaid

        console.result(mermaid(result.jobs))
        console.warned(result.diagnostics, result.texts)
        console.say(summary)
        return exit_status(result.diagnostics, args)
    return show_findings(result.diagnostics, result.texts, summary, args, console)
