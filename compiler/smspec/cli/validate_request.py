"""``smspec validate --api-json FILE``: the same verdict on a raw CreateTrainingJob request."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console
from smspec.cli.findings import show_findings
from smspec.diagnostics.formats import FORMATS
from smspec.pipeline.request_file import check_request_file
from smspec.spec.layers.misuse import Misuse


def validate_request(args: argparse.Namespace, console: Console) -> int:
    """Check the request that ``--api-json`` names. Raises `UsageError` beside what only a spec has."""
    beside = {
        "PATH": args.paths,
        "--overlay": args.overlay is not None,
        "--set": args.set,
        "--root": args.root is not None,
    }
    for name, is_given in beside.items():
        if is_given:
            raise UsageError(f"--api-json checks one request, which has no overlays and no variables: leave out {name}")
    if args.format not in FORMATS:
        raise UsageError(f"--format {args.format} shows job specs; a request has {', '.join(FORMATS)}")
    try:
        checked = check_request_file(args.api_json)
    except Misuse as misuse:
        raise UsageError(str(misuse)) from misuse
    return show_findings(checked.diagnostics, checked.texts, checked.summary(), args, console)
