"""The arguments of the commands that run the job: its engine and its data."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from smspec.cli.command_errors import UsageError
from smspec.local.engines import AUTO, ENGINES


def add_engine_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--engine``."""
    parser.add_argument(
        "--engine",
        choices=(AUTO, *ENGINES),
        help="how to run the hosts (default: SMSPEC_ENGINE, or auto, which never builds an image)",
    )


def engine_of(named: str | None, variables: Mapping[str, str]) -> str:
    """Return the engine of ``--engine``, or the one that SMSPEC_ENGINE names."""
    name = named or variables.get("SMSPEC_ENGINE") or AUTO
    if name not in (AUTO, *ENGINES):
        raise UsageError(f"SMSPEC_ENGINE: expected one of {', '.join((AUTO, *ENGINES))}, got `{name}`")
    return name


def channel_data(words: list[str]) -> dict[str, str]:
    """Return the values of ``--data``, path by channel; the last one wins."""
    paths: dict[str, str] = {}
    for word in words:
        channel, equals, path = word.partition("=")
        if not (equals and channel and path):
            raise UsageError(f"--data: expected `CHANNEL=PATH`, got `{word}`")
        paths[channel] = path
    return paths
