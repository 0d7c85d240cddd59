"""End processes that outlive the guard of their host, because a script has killed it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from types import TracebackType

from smspec.workspace.process_guard import become_subreaper, children

_DEADLINE_SECONDS = 5.0


class Leftovers:
    """In this context, orphans become children of this process, so that it can find them.

    Only Linux supports this; elsewhere only the process group of each host is ended.
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
        """Kill every child that did not exist at the start, until none is left."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline:
            left = children() - self._before
            if not left:
                break
            for process in left:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
