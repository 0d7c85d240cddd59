"""Whether this machine can run namespaces, found by trying every step, and what to say if it cannot."""

from __future__ import annotations

import errno
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

_CELL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cell", "__main__.py")
_SECONDS = 20
_REFUSED = (errno.EPERM, errno.EACCES)
_UBUNTU = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """``step`` is the first step that failed, or empty. ``has_network``: hosts can have a network of their own."""

    step: str = ""
    number: int = 0
    has_network: bool = False


def cell_words(*words: str) -> list[str]:
    """Return the command of the cell: in a fresh process, because one with threads cannot enter a user namespace."""
    return [sys.executable, "-I", "-S", _CELL, *words]


@functools.cache
def probe() -> Probe:
    """Try the steps of a run in a process of its own; it leaves nothing."""
    if not sys.platform.startswith("linux"):
        return Probe(step="linux")
    try:
        ended = subprocess.run(
            cell_words("probe"), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
        found = json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return Probe(step="start")
    return Probe(
        step=found.get("step", ""), number=found.get("errno", 0), has_network=bool(found.get("network", False))
    )


def unavailable() -> str | None:
    """Return why hosts cannot have namespaces here, and how to allow it; None if they can."""
    found = probe()
    return None if not found.step else f"namespaces are unavailable: {why(found.step, found.number)}"


def why(step: str, number: int, read: Callable[[str], str] | None = None) -> str:
    """Return the reason of a failed step, as the end of a sentence. ``read`` returns the content of a setting."""
    setting = (read or _setting)(_UBUNTU), (read or _setting)(_DEBIAN)
    if step == "linux":
        return "they need Linux; pass `--engine docker`"
    if number == errno.ENOSPC or (number in _REFUSED and setting[1] == "0"):
        return "an administrator disabled them"
    if number in _REFUSED and setting[0] == "1":
        return "Ubuntu restricts them; `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` allows them"
    if step.startswith("unshare user") and number == errno.EPERM:
        return "this container forbids them; start it with `--security-opt seccomp=unconfined`"
    if step == "mount proc" and number in _REFUSED:
        return "this container masks /proc; start it with `--security-opt unmask=ALL`, or with `systempaths=unconfined`"
    reason = f": {os.strerror(number).lower()}" if number else ""
    return f"this machine refuses a step (`{step}`{reason})"


def _setting(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""
