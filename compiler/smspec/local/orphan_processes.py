"""Processes that outlive the guard of their host, because a program has killed it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from types import TracebackType

from smspec.local.guard import become_subreaper, children

_DEADLINE_SECONDS = 5.0


class Leftovers:
    """While this is entered, orphans below us become our children, so that none can hide.

    Only Linux has this; elsewhere the process group of each host is all that is ended.
    """

    def __enter__(self) -> Leftovers:
        self._before = children()
        become_subreaper(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        become_subreaper(False)

    def _end(self) -> None:
        """Kill every child that was not there at the start, until none is left."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline:
            left = children() - self._before
            if not left:
                break
            for process in left:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
