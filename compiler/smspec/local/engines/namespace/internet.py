"""The way from the network of the hosts to the internet: slirp4netns, where it is installed."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from smspec.local.running.request import RunFailed

PROGRAM = "slirp4netns"
GATEWAY, RESOLVER = "10.0.2.2", "10.0.2.3"
_DEVICE = "/dev/net/tun"
_SECONDS = 20.0
_LOOPBACK = re.compile(r"(?<=://)(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)")


def missing() -> str:
    """Return what to do so that hosts with a network of their own can reach the internet; empty if they can."""
    if shutil.which(PROGRAM) is None:
        return f"install {PROGRAM}"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"let your user read and write {_DEVICE}, which {PROGRAM} opens"
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
        path = shutil.which(PROGRAM)
        assert path is not None
        ready, is_ready = os.pipe()
        exit_fd, self._end = os.pipe()
        options = [] if reaches_loopback else ["--disable-host-loopback"]
        words = [path, *options, f"--ready-fd={is_ready}", f"--exit-fd={exit_fd}", "--mtu=65520", str(process), "tap0"]
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(is_ready, exit_fd),
                start_new_session=True,
            )
        finally:
            os.close(is_ready)
            os.close(exit_fd)
        answered, _, _ = select.select([ready], [], [], _SECONDS)
        said = os.read(ready, 1) if answered else b""
        os.close(ready)
        if not said:
            self._process.kill()
            assert self._process.stderr is not None
            # The first line names the cause, the last one only that the child failed.
            first = self._process.stderr.read().decode(errors="replace").strip().splitlines()[:1]
            self.close()
            raise RunFailed(3, f"`{PROGRAM}` did not start", "".join(first))

    def close(self) -> None:
        """End it. It also ends with smspec, which holds the other end of a pipe."""
        with suppress(OSError):
            os.close(self._end)
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
