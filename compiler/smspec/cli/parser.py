"""The parser of one command: argparse, with its errors and help as smspec's own; ``-q``, ``-v``, and findings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from smspec.cli.console import Console, UsageError
from smspec.diagnostics import Diagnostic, fails
from smspec.source import SourceText

_MOST_NAMED = 8
"""Of more choices, a mistake is shown the nearest only."""

QUIET = "show only warnings, errors, and the result"


class CommandParser(argparse.ArgumentParser):
    """Parses the arguments of one command. A mistake raises `UsageError`; help is a result."""

    def __init__(self, command: str, description: str, console: Console) -> None:
        super().__init__(
            prog=f"smspec {command}",
            description=description,
            # Not for the screen yet: argparse makes one for each argument, and would ask for the width of the screen.
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
            allow_abbrev=False,
        )
        self._console = console

    def read(self, words: list[str]) -> argparse.Namespace:
        """Return the parsed arguments of a command line."""
        for word in words:
            if word == "--":
                break
            # argparse removes the value `--` from its option and leaves a list in its place.
            option = word.removesuffix("=--") if word.startswith("--") else word.removesuffix("--")
            if option != word and option.startswith("-") and len(option) > 1:
                self.error(f"argument {option}: `--` is not a value")
        args, unknown = self.parse_known_args(words)
        if unknown:
            self.error(self._unknown(unknown))
        return args

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"usage: {self._usage()}, see {self.prog} --help\n")

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 (argparse passes it)
        # Imported late, here and below: a command that runs shows neither help nor usage.
        from smspec.cli.help_format import WrappedHelp, help_columns

        self.formatter_class = lambda prog: WrappedHelp(prog, help_columns(self._console.out_columns))
        self.usage = self._usage()
        self._console.painted_result(self.format_help())

    def _usage(self) -> str:
        from smspec.cli.help_format import usage

        return usage(self._actions, self.prog)

    def _unknown(self, words: list[str]) -> str:
        """Return the sentence about words that no argument takes."""
        from smspec.diagnostics.suggestions import did_you_mean

        word = words[0]
        if not word.startswith("-") or word == "-":
            return f"unexpected argument `{word}`"
        name = word.partition("=")[0]
        meant = did_you_mean(name, (spelling for spelling in self._option_string_actions if spelling.startswith("--")))
        return f"unknown option `{name}`" + (f"; {meant}" if meant else "")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Raise argparse's error for a value that is not among the choices, in words that no version of it changes."""
        if action.choices is None or value in action.choices:
            return
        from smspec.diagnostics.suggestions import did_you_mean

        choices = tuple(map(str, action.choices))
        meant = did_you_mean(str(value), choices)
        expected = f"one of {', '.join(choices)}, " if len(choices) <= _MOST_NAMED or not meant else ""
        sentence = f"expected {expected}got `{value}`" if expected else f"unknown value `{value}`"
        raise argparse.ArgumentError(action, sentence + (f"; {meant}" if meant else ""))


def add_verbosity_arguments(parser: argparse.ArgumentParser, *, quiet: str, verbose: str) -> None:
    """Add ``-q`` and ``-v``, which `Console.verbosity` has then as -1 and 1. The texts are their help."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help=quiet)
    group.add_argument("-v", "--verbose", action="store_true", help=verbose)


def add_quiet_argument(parser: argparse.ArgumentParser, help: str = QUIET) -> None:
    """Add ``-q`` alone, for a command without details: it hides what `Console.remark` writes."""
    parser.add_argument("-q", "--quiet", action="store_true", help=help)


def add_findings_arguments(parser: argparse.ArgumentParser, *more_formats: str) -> None:
    """Add ``--format`` and ``--strict``; ``more_formats`` are those for something other than findings."""
    # Imported late: many commands find nothing.
    from smspec.diagnostics.formats import FORMATS

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
    from smspec.diagnostics.formats import FORMATS, STRICT_FORMATS

    formats = STRICT_FORMATS if args.strict else FORMATS
    shown = formats[args.format](
        console.wanted(diagnostics) if args.format == "text" else diagnostics,
        texts,
        console.out_in_colour,
        console.out_columns,
    )
    if shown:
        (console.commands if args.format == "github" else console.painted_result)(shown)
    if args.format == "text":
        console.has_framed(diagnostics)
    if summary:
        console.remark(*summary.splitlines(), has_verdict=True)
    return exit_status(diagnostics, args)


def exit_status(diagnostics: Sequence[Diagnostic], args: argparse.Namespace) -> int:
    """Return the exit status for findings: warnings fail only with ``--strict``, notes never."""
    return 1 if fails(diagnostics, is_strict=args.strict) else 0
