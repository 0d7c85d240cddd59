"""The parser of one command: argparse, with its errors and help as smspec's own."""

from __future__ import annotations

import argparse
from typing import NoReturn

from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console

WIDTH = 100


class CommandParser(argparse.ArgumentParser):
    """Parses the arguments of one command. A mistake raises `UsageError`; help is a result."""

    def __init__(self, command: str, description: str, console: Console) -> None:
        super().__init__(
            prog=f"smspec {command}",
            description=description,
            # A fixed width: to get that of the terminal, argparse would import `shutil` and the compressors with it.
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=WIDTH),
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
        return self.parse_args(words)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage())

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 (argparse passes it)
        self._console.painted_result(self.format_help())
