"""The files that travel with a script, and whether the text of one can say anything that is understood."""

from __future__ import annotations

from typing import Protocol

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
        """Return the module that an import of a full name finds; None for none. Raises `ScriptUnreadable`."""

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raises `ScriptUnreadable`."""


def says_anything(text: str) -> bool:
    """Return whether a text has any of the words without which nothing in it is understood."""
    return any(word in text for word in WORDS)
