"""The feeder with S3: ``main`` takes the arguments of the feeder's own program."""

from __future__ import annotations

from typing import NoReturn

from smspec.local.feeder import program
from smspec.local.s3.store import open_store


def main(arguments: list[str]) -> NoReturn:
    """Feed what the plan says, from S3 too."""
    program.main(arguments, open_store)
