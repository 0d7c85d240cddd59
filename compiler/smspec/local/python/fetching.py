"""Fetch a Python that this machine lacks, with uv, into the cache of smspec."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable

from smspec.diagnostics.masking import masked
from smspec.diagnostics.quoting import system_reason
from smspec.local.python.installing import NO_ROOM, UNREACHABLE, run_shown
from smspec.local.python.interpreter import (
    PYTHONS,
    Interpreter,
    fetched_directory,
    matching_interpreter,
    without_foreign_packages,
)
from smspec.local.running.request import RunFailed
from smspec.workspace.own_directories import make_private, open_cache

_UNKNOWN = re.compile(r"No download found|not a valid|No downloads? (?:is |are )?available", re.IGNORECASE)
_OFFLINE = re.compile(r"network connectivity is disabled|offline", re.IGNORECASE)
_CAUSE = re.compile(r"(?:^|\s)(?:error|cause|caused by): ", re.IGNORECASE)


def fetched_interpreter(version: str, show: Callable[[str], None]) -> Interpreter:
    """Return the interpreter of a version that this machine has, or has then. Raise RunFailed."""
    found = matching_interpreter(version)
    if found is None:
        _fetch(version, show)
        found = matching_interpreter(version)
    if found is None:
        raise _failed(version, "what uv installed does not start")
    return found


def _fetch(version: str, show: Callable[[str], None]) -> None:
    """Install a Python of a version, such as 3.12, for smspec alone. Raise RunFailed."""
    uv = shutil.which("uv")
    if uv is None:
        raise _failed(version, "`--fetch-python` requires uv on PATH")
    try:
        directory = open_cache(PYTHONS)
    except OSError as fault:
        raise _failed(version, f"failed to create directory `{fetched_directory()}`: {system_reason(fault)}") from None
    show(f"fetching Python {version} with uv into {directory}")
    # No program of that Python becomes visible outside of the cache.
    variables = {
        **without_foreign_packages(os.environ),
        "UV_PYTHON_INSTALL_DIR": directory,
        "UV_PYTHON_INSTALL_BIN": "0",
    }
    variables.pop("UV_PYTHON", None)
    causes: list[str] = []

    def take(line: str) -> None:
        line = masked(line)
        if causes or line.startswith("error"):
            causes.append(line)
        elif line.strip():
            show(f"fetching | {line.strip()}")

    status = run_shown([uv, "python", "install", version], variables, take)
    make_private(directory)
    if status:
        # uv wraps long lines.
        raise _failed(version, _reason(" ".join(line.strip() for line in causes)))


def _reason(text: str) -> str:
    if NO_ROOM.search(text):
        return "the disk is full: set SMSPEC_CACHE_DIR to another disk"
    if _UNKNOWN.search(text):
        return "uv has no build of it for this machine"
    if _OFFLINE.search(text) or UNREACHABLE.search(text):
        return "uv cannot reach the server that has it"
    return _CAUSE.split(text)[-1].strip() or "uv failed"


def _failed(version: str, reason: str) -> RunFailed:
    return RunFailed(3, f"cannot fetch Python {version}: {reason}; install it, or pass `--python EXE`")
