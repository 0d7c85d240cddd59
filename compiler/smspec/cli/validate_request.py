"""``smspec validate --api-json FILE``: check a CreateTrainingJob request."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console
from smspec.cli.findings import show_findings
from smspec.diagnostics.formats import FORMATS
from smspec.diagnostics.quoting import one_of
from smspec.pipeline.request_file import check_request_file
from smspec.spec.layers.variables import OptionError


def validate_request(args: argparse.Namespace, console: Console) -> int:
    """Check the request in ``--api-json``. Raise `UsageError` for arguments that require a spec."""
    only_for_specs = {
        "PATH": args.paths,
        "--overlay": args.overlay is not None,
        "--set": args.set,
        "--root": args.root is not None,
    }
    for name, is_given in only_for_specs.items():
        if is_given:
            raise UsageError(f"--api-json cannot be combined with {name}")
    if args.format not in FORMATS:
        raise UsageError(f"--format {args.format} cannot be combined with --api-json; use {one_of(list(FORMATS))}")
    try:
        checked = check_request_file(args.api_json)
    except OptionError as error:
        raise UsageError(str(error)) from error
    summary = "\n".join(filter(None, (checked.summary(), checked.ceiling())))
    return show_findings(checked.diagnostics, checked.texts, summary, args, console)
