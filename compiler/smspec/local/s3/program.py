"""The feeder with S3: ``main`` accepts the arguments of the feeder's own program."""

from __future__ import annotations

from typing import NoReturn

from smspec.local.feeder import program
from smspec.local.s3.store import open_store


def main(arguments: list[str]) -> NoReturn:
    """Feed the channels of the plan, also from S3."""
    program.main(arguments, open_store)
