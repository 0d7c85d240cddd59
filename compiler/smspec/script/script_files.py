"""The files of a script's source, and whether the text of one contains anything relevant."""

from __future__ import annotations

from typing import Protocol

from smspec.source import SourceText

WORDS = (
    "argparse",
    "boto3",
    "click",
    "typer",
    "jsonargparse",
    "HfArgumentParser",
    "LightningCLI",
    "absl",
    "fire",
    "hydra",
    "from_cli",
    "tyro",
    "SM_",
    "init_process_group",
    "/opt",
    'environ["',
    "environ['",
    "smspec_runtime",
    '"pip"',
    "'pip'",
    "pip install",
    "pip.main",
    "s3://",
    "s3fs",
)
"""A script without any of these, in itself or in what it imports from the source, contains nothing relevant."""


class Source(Protocol):
    """The files of a script's source. ``searches``: the job makes Python search for modules elsewhere, too."""

    searches: bool

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds, or None. Raise `ScriptUnreadable`."""

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raise `ScriptUnreadable`."""


def has_relevant_word(text: str) -> bool:
    """Return whether a text contains any relevant word."""
    return any(word in text for word in WORDS)
