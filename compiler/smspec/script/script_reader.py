"""From the text of a program to what it says about itself."""

from __future__ import annotations

from typing import Protocol

from smspec.script.parse_limits import Unreadable, is_readable
from smspec.script.program import Program
from smspec.source import SourceText

WORDS = (
    "argparse",
    "click",
    "typer",
    "jsonargparse",
    "HfArgumentParser",
    "absl",
    "SM_",
    "init_process_group",
    "/opt",
    "smspec_runtime",
)
"""A program without any of these, in itself or in what it imports from beside it, says nothing that is understood."""


class Source(Protocol):
    """The files that travel with a program. ``searches``: the job has Python look for modules elsewhere, too."""

    searches: bool

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds; None for none. Raises `Unreadable`."""

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raises `Unreadable`."""


def says_anything(text: str) -> bool:
    """Tell whether a text has any of the words without which nothing in it is understood."""
    return any(word in text for word in WORDS)


def read_script(text: SourceText, source: Source) -> Program:
    """Return what a program says that is started as a script. Raises `Unreadable`."""
    return _read(text, source, "__main__", None)


def read_handler(text: SourceText, module: str, name: str, source: Source) -> Program:
    """Return what a function or class ``name`` of a module says that is called with the job, or that there is none.

    Raises `Unreadable`.
    """
    from smspec.script.handler_names import definitions, lacks  # late: few programs are handlers

    if lacks(text.text, name):
        return Program(texts=(text,), missing_handler=name, definitions=definitions(text.text))
    asks = any(word in text.text for word in ("hyperparameters", "channel", "/opt"))
    return _read(text, source, module, name) if asks else Program(texts=(text,))


def _read(text: SourceText, source: Source, module: str, handler: str | None) -> Program:
    if not is_readable(text.text):
        raise Unreadable("it is too long or too deeply nested to follow")
    from smspec.script.tracing import followed  # late: `ast` is for those who have a Python program

    return followed(text, source, module, handler)
