"""How much a command shows besides its result: ``-q`` less, ``-v`` more."""

from __future__ import annotations

import argparse


def add_verbosity_arguments(parser: argparse.ArgumentParser, *, quiet: str, verbose: str) -> None:
    """Add ``-q`` and ``-v``, which `Console.verbosity` has then as -1 and 1. The texts are their help."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help=quiet)
    group.add_argument("-v", "--verbose", action="store_true", help=verbose)


QUIET = "show only warnings, errors, and the result"


def add_quiet_argument(parser: argparse.ArgumentParser, help: str = QUIET) -> None:
    """Add ``-q`` alone, for a command without details: it hides what `Console.remark` writes."""
    parser.add_argument("-q", "--quiet", action="store_true", help=help)
