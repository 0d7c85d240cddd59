"""The arguments of the commands that run the job's script: which Python they use, and what they may install."""

from __future__ import annotations

import argparse


def add_python_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--python``, ``--fetch-python``, and ``--no-install``."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--python",
        metavar="EXE",
        help="Python to use, with its packages (default: the version and packages of the image)",
    )
    choice.add_argument(
        "--fetch-python", action="store_true", help="if this machine lacks the Python of the image, fetch it with uv"
    )
    parser.add_argument(
        "--no-install", action="store_true", help="exit with status 3 instead of installing Python packages of the job"
    )
