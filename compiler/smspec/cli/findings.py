"""Findings as the result of a command: their format and the exit status."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from smspec.cli.console import Console
from smspec.diagnostics import Diagnostic
from smspec.diagnostics.finding import fails
from smspec.diagnostics.formats import FORMATS, STRICT_FORMATS
from smspec.source import SourceText


def add_findings_arguments(parser: argparse.ArgumentParser, *more_formats: str) -> None:
    """Add ``--format`` and ``--strict``; ``more_formats`` are those for something other than findings."""
    parser.add_argument(
        "--format",
        choices=(*FORMATS, *more_formats),
        default="text",
        help="text for a terminal, json for scripts, sarif for code scanning, github for workflow annotations,"
        " junit for test results",
    )
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")


def show_findings(
    diagnostics: Sequence[Diagnostic],
    texts: Sequence[SourceText],
    summary: str,
    args: argparse.Namespace,
    console: Console,
) -> int:
    """Write findings to standard output, ``summary`` to the other stream, and return the exit status."""
    formats = STRICT_FORMATS if args.strict else FORMATS
    shown = formats[args.format](
        console.wanted(diagnostics) if args.format == "text" else diagnostics, texts, console.out_in_colour
    )
    if shown:
        console.result(shown)
    if args.format == "text":
        console.has_framed(diagnostics)
    if summary:
        console.remark(summary)
    return exit_status(diagnostics, args)


def exit_status(diagnostics: Sequence[Diagnostic], args: argparse.Namespace) -> int:
    """Return the exit status for findings: warnings fail only with ``--strict``, notes never."""
    return 1 if fails(diagnostics, is_strict=args.strict) else 0
