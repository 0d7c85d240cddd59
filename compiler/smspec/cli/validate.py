"""``smspec validate``: everything that is wrong with job specs, and with each under each of its overlays."""

from __future__ import annotations

import argparse

from smspec.cli.console import Console
from smspec.cli.faults import Usage
from smspec.cli.findings import add_findings_arguments, show_findings
from smspec.cli.spec_arguments import add_variation_arguments, settings
from smspec.diagnostics import Rejected
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import gather, gather_all
from smspec.pipeline.job_search import find_job_specs
from smspec.pipeline.verdict import Verdict
from smspec.source import Document
from smspec.spec.layers.assembly import Misuse

HELP = """\
Say everything that is wrong with job specs. Each is checked as it is and under each of its overlays.

A directory means the job specs below it: YAML files with a top-level `smspec`, without the bases that others extend.
With --api-json, a CreateTrainingJob request gets the same verdict, at its own lines.
Exit status: 0 when nothing is wrong, 1 when something is (warnings count with --strict)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    parser.add_argument("--api-json", metavar="FILE", help="check a raw CreateTrainingJob request; - reads stdin")
    add_findings_arguments(parser)
    add_variation_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.api_json is not None:
        # Late: it reads another kind of file.
        from smspec.cli.validate_request import validate_request

        return validate_request(args, console)
    verdict = Verdict()
    known: dict[str, Document] = {}
    try:
        for path in find_job_specs(args.paths or ["job.yaml"], known):
            _check(path, args, known, verdict)
    except Misuse as misuse:
        raise Usage(str(misuse)) from misuse

    return show_findings(verdict.diagnostics(), verdict.texts(), verdict.summary(), args, console)


def _check(path: str, args: argparse.Namespace, known: dict[str, Document], verdict: Verdict) -> None:
    """Check one spec: under the overlay that was asked for, or as it is and under each of its overlays."""
    try:
        if args.overlay is not None:
            inputs = gather(path, args.overlay, settings(args), known)
            verdict.add({None: compile_spec(inputs)})
        else:
            gathered = gather_all(path, settings(args), known)
            verdict.add({name: i if isinstance(i, Rejected) else compile_spec(i) for name, i in gathered})
    except Rejected as rejected:
        verdict.add({None: rejected})
