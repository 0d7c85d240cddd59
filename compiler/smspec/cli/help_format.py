"""Help for the screen it is shown on, and one line of usage for a mistake."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from smspec.diagnostics.wrapping import wrapped

USUAL_COLUMNS = 80
_MOST_COLUMNS = 120
"""Longer lines are hard to read, however wide the screen."""
_LEAST_COLUMNS = 40
_LONGEST_CHOICES = 20
"""Longer lists of choices stand in the help of an option, not in its name."""


def help_columns(columns: int | None) -> int:
    """Return how many columns help may take on a screen with ``columns``; None: on no screen."""
    return max(_LEAST_COLUMNS, min(columns or USUAL_COLUMNS, _MOST_COLUMNS))


class WrappedHelp(argparse.HelpFormatter):
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


def usage(actions: Sequence[argparse.Action], prog: str) -> str:
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
    bare = text.lstrip(" ")
    return wrapped(bare, columns, first=" " * (len(text) - len(bare)), rest=indent).split("\n")
