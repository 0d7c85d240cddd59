"""Whether this machine can run namespaces, found by trying every step, and what to say if it cannot.

The way from the network of the hosts to the internet is slirp4netns, where it is installed.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from smspec.local.running.request import RunFailed
from smspec.source.frozen import dataclass
from smspec.source.real_file import OUTSIDE_PROJECTS, program_named

_CELL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cell", "__main__.py")
_SECONDS = 20
_REFUSED = (errno.EPERM, errno.EACCES)
_SCARCE = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""What a machine that allows namespaces may lack at the moment."""

_UBUNTU = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone"
SLIRP = "slirp4netns"
GATEWAY, RESOLVER = "10.0.2.2", "10.0.2.3"
_DEVICE = "/dev/net/tun"
_SECONDS_TO_CONNECT = 20.0
_MOST_SAID = 1 << 16
_LOOPBACK = re.compile(r"(?<=://)(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """``step`` is the first step that failed, or empty. ``has_network``: hosts can have a network of their own."""

    step: str = ""
    number: int = 0
    has_network: bool = False

    @property
    def is_tried(self) -> bool:
        """Whether a machine refuses the step, rather than being out of processes, memory, files, or time."""
        return self.number not in (*_SCARCE, errno.ETIME)


def cell_words(*words: str) -> list[str]:
    """Return the command of the cell: in a fresh process, because one with threads cannot enter a user namespace."""
    return [sys.executable, "-I", "-S", _CELL, *words]


@functools.cache
def start_probe() -> subprocess.Popen[bytes] | int | None:
    """Start to try the steps of a run in a process of its own, which leaves nothing; `probe` waits for it.

    Return the number of an error if it cannot be started, and None where there are no namespaces.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        # What it prints to stderr is not of interest; that it is closed shows its end.
        return subprocess.Popen(
            cell_words("probe"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as fault:
        return fault.errno or errno.ENOENT


@functools.cache
def probe() -> Probe:
    """Return the result of the steps of a run."""
    if not sys.platform.startswith("linux"):
        return Probe(step="linux")
    process = start_probe()
    if process is None or isinstance(process, int):
        return Probe(step="start", number=process or 0)
    try:
        found = json.loads(process.communicate(timeout=_SECONDS)[0])
    except (ValueError, subprocess.TimeoutExpired) as fault:
        process.kill()
        process.communicate()
        return Probe(step="start", number=errno.ETIME if isinstance(fault, subprocess.TimeoutExpired) else 0)
    return Probe(
        step=found.get("step", ""), number=found.get("errno", 0), has_network=bool(found.get("network", False))
    )


def unavailable() -> str | None:
    """Return why hosts cannot have namespaces here, and how to allow it; None if they can."""
    found = probe()
    return untried() or (f"namespaces are unavailable: {why(found.step, found.number)}" if found.step else None)


def untried() -> str | None:
    """Return why it is unknown whether hosts can have namespaces here; None if it is known."""
    found = probe()
    is_late = found.number == errno.ETIME
    reason = f"the trial takes more than {_SECONDS} seconds" if is_late else os.strerror(found.number).lower()
    return None if found.is_tried else f"namespaces could not be tried: {reason}"


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


def missing_for_internet() -> str:
    """Return what to do so that hosts with a network of their own can reach the internet; empty if they can."""
    if program_named(SLIRP) is None:
        return f"install {SLIRP}"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"let your user read and write {_DEVICE}, which {SLIRP} opens"
    return ""


def loopback_variables(variables: Mapping[str, str]) -> list[str]:
    """Return the variables with an address of this machine, which means a host itself there."""
    return [name for name, value in variables.items() if _LOOPBACK.search(value)]


def to_this_machine(value: str) -> str:
    """Return the URL under which a host reaches a server on the loopback interface of this machine."""
    return _LOOPBACK.sub(GATEWAY, value)


class Internet:
    """A running slirp4netns. It is not a process of the hosts, so it must be closed."""

    def __init__(self, process: int, *, reaches_loopback: bool) -> None:
        """Add `tap0` to the network of a process. Raise RunFailed."""
        path = program_named(SLIRP)
        assert path is not None
        ready, is_ready = os.pipe()
        exit_fd, self._end = os.pipe()
        options = [] if reaches_loopback else ["--disable-host-loopback"]
        words = [path, *options, f"--ready-fd={is_ready}", f"--exit-fd={exit_fd}", "--mtu=65520", str(process), "tap0"]
        try:
            self._process = subprocess.Popen(
                words,
                cwd=OUTSIDE_PROJECTS,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(is_ready, exit_fd),
                start_new_session=True,
            )
        finally:
            os.close(is_ready)
            os.close(exit_fd)
        answered, _, _ = select.select([ready], [], [], _SECONDS_TO_CONNECT)
        said = os.read(ready, 1) if answered else b""
        os.close(ready)
        if not said:
            self._kill()
            assert self._process.stderr is not None
            # What it printed so far: a script on PATH may have started what prints or waits for ever. The first line
            # names the cause, the last one only that the child failed.
            os.set_blocking(self._process.stderr.fileno(), False)
            first = (self._process.stderr.read(_MOST_SAID) or b"").decode(errors="replace").strip().splitlines()[:1]
            self.close()
            raise RunFailed(3, f"`{SLIRP}` did not start", "".join(first))

    def close(self) -> None:
        """End it. It also ends with smspec, which holds the other end of a pipe."""
        end, self._end = self._end, -1
        if end >= 0:
            os.close(end)
        self._kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it has a session of its own
