"""Processes that outlive their host: daemons and grandchildren. In a container they die with process 1."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from types import TracebackType

_SET_CHILD_SUBREAPER = 36
_DEADLINE_SECONDS = 5.0


class Leftovers:
    """While this is entered, orphans below us become our children, so that none can hide.

    Only Linux has this; elsewhere the process group of each host is all that is ended.
    """

    def __enter__(self) -> Leftovers:
        self._before = _children()
        _become_subreaper(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        _become_subreaper(False)

    def _end(self) -> None:
        """Kill every child that was not there at the start, until none is left."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline:
            left = _children() - self._before
            if not left:
                break
            for process in left:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)


def _children() -> set[int]:
    """Return our children, dead ones included, as /proc has them."""
    found = set()
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # pid (name of the program) state parent …; the name may hold anything, parentheses too
                    parent = file.read().rpartition(b")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found.add(int(name))
    return found


def _become_subreaper(wanted: bool) -> None:
    if not sys.platform.startswith("linux"):
        return
    # Late: only a run needs it.
    import ctypes

    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
