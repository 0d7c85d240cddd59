"""The parser of one command: argparse, with its errors and help as smspec's own; ``-q``, ``-v``, and findings.

Help fits the screen that it is shown on, and a mistake gets one line of usage.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import NoReturn

from smspec.cli.console import Console, UsageError
from smspec.diagnostics import Diagnostic, fails
from smspec.source import SourceText

_MOST_NAMED = 8
"""Of more choices, a mistake is shown the nearest only."""

_USUAL_COLUMNS = 80
_MOST_COLUMNS = 120
"""Longer lines are hard to read, however wide the screen."""
_LEAST_COLUMNS = 40
_LONGEST_CHOICES = 20
"""Longer lists of choices stand in the help of an option, not in its name."""

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
        self.formatter_class = lambda prog: _WrappedHelp(prog, help_columns(self._console.out_columns))
        self.usage = self._usage()
        self._console.painted_result(self.format_help())

    def _usage(self) -> str:
        return _usage_line(self._actions, self.prog)

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


def help_columns(columns: int | None) -> int:
    """Return how many columns help may take on a screen with ``columns``; None: on no screen."""
    return max(_LEAST_COLUMNS, min(columns or _USUAL_COLUMNS, _MOST_COLUMNS))


class _WrappedHelp(argparse.HelpFormatter):
    """Formats help for a number of columns, without a break inside a word.

    Paragraphs are filled; an indented line stays one, and goes on below its last column.
    """

    def __init__(self, prog: str, columns: int) -> None:
        # argparse leaves two columns empty, and would ask for the width with `shutil`, which imports compressors.
        super().__init__(prog, width=columns, max_help_position=min(24, columns // 3))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _filled(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = (block for paragraph in text.split("\n\n") for block in _blocks(paragraph.split("\n"), width))
        return "\n\n".join(indent + block.replace("\n", f"\n{indent}") for block in blocks)

    def _metavar_formatter(self, action: argparse.Action, default_metavar: str):  # type: ignore[no-untyped-def]
        if action.metavar is None and len(_choices(action)) > _LONGEST_CHOICES:
            return lambda size: (action.dest.upper(),) * size
        return super()._metavar_formatter(action, default_metavar)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        words = action.help
        if action.metavar is None and len(_choices(action)) > _LONGEST_CHOICES:
            return f"{words}; one of {_choices(action).replace('%', '%%')}"
        return words


def _usage_line(actions: Sequence[argparse.Action], prog: str) -> str:
    """Return a line of usage that names the positional arguments, and the options as one word."""
    words = [prog, *(["[OPTIONS]"] if any(action.option_strings for action in actions) else [])]
    return " ".join((*words, *map(_position, (action for action in actions if not action.option_strings))))


def _position(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    if action.nargs in ("?", "*"):
        return f"[{name}]" if action.nargs == "?" else f"[{name} …]"
    return f"{name} …" if action.nargs == "+" else name


def _choices(action: argparse.Action) -> str:
    return ", ".join(map(str, action.choices or ()))


def _blocks(lines: list[str], columns: int) -> Iterator[str]:
    """Yield the lines of one paragraph as blocks: running text is filled, indented lines stay apart."""
    if not any(line.startswith(" ") for line in lines):
        yield "\n".join(_filled(" ".join(lines), columns))
        return
    yield "\n".join(shown for line in lines for shown in _filled(line, columns, _last_column(line)))


def _last_column(line: str) -> str:
    """Return the blanks in front of the last column of a line, for what goes on below it."""
    head, gap, _ = line.rpartition("  ")
    return " " * len(head + gap)


def _filled(text: str, columns: int, indent: str = "") -> list[str]:
    # Imported late: a command that runs shows no help.
    from smspec.diagnostics.wrapping import wrapped

    bare = text.lstrip(" ")
    return wrapped(bare, columns, first=" " * (len(text) - len(bare)), rest=indent).split("\n")
