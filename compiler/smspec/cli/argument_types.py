"""The types of numeric arguments (numbers of hosts and bytes, rates, durations), and arguments about the Python."""

from __future__ import annotations

import argparse
import re
from typing import Literal

from smspec.spec.keys.row import duration_meant, size_in_bytes, size_meant

_BYTES = ("", "B")
_UNITS = (*_BYTES, "kB", "MB", "GB", "KiB", "MiB", "GiB")
_MOST_DIGITS = 15
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def host_count(word: str) -> int:
    """Parse a number of hosts, 1 or more."""
    if not (word.isascii() and word.isdigit() and int(word[:9])):
        raise argparse.ArgumentTypeError(f"expected a number of hosts, got `{word}`")
    return int(word)


def byte_count(word: str) -> int:
    """Parse a number of bytes: `1000`, `50MB`."""
    count = _bytes(word)
    if count is None:
        raise _no("a number of bytes", word, size_meant(word), "`1000` or `50MB`")
    return count


def memory_size(word: str) -> int | Literal["auto"]:
    """Parse a number of bytes, more than 0, or ``auto``."""
    if word == "auto":
        return "auto"
    count = _bytes(word)
    if not count:
        raise _no("`auto` or a size", word, size_meant(word), "`16GB`")
    return count


def byte_rate(word: str) -> int:
    """Parse bytes per second, more than 0: `50MB/s`, `50MB`."""
    size = word.removesuffix("/s")
    rate = _bytes(size)
    if not rate:
        meant = size_meant(size)
        raise _no("a rate", word, meant and f"{meant}{word[len(size) :]}", "`50MB/s`")
    return rate


def stall_seconds(word: str) -> float:
    """Parse a duration, more than 0, in seconds: `30s`, `1.5m`; the default unit is seconds."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh]?)", word)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise _no("a duration", word, duration_meant(word), "`30s` or `2m`")
    return seconds


def _bytes(word: str) -> int | None:
    number = word.rstrip("BGKMik")
    unit = word[len(number) :]
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > _MOST_DIGITS:
        return None
    return size_in_bytes(int(number) if unit in _BYTES else word)


def _no(kind: str, word: str, meant: str | None, examples: str) -> argparse.ArgumentTypeError:
    if meant and meant != word:
        return argparse.ArgumentTypeError(f"expected {kind}, got `{word}`; did you mean `{meant}`?")
    return argparse.ArgumentTypeError(f"expected {kind} such as {examples}, got `{word}`")


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
