"""Whether a stop was requested."""

import os
import signal
from types import FrameType

from .lean_typing import Any, Callable, Optional


class StopRequest:
    """Records SIGTERM once used; also calls ``notify`` and an earlier handler."""

    def __init__(self) -> None:
        self.notify: Callable[[], object] = lambda: None
        self._seen = False
        self._process = 0
        self._previous: Any = None

    @property
    def seen(self) -> bool:
        if self._previous is None:
            self._process = os.getpid()
            try:
                self._previous = signal.signal(signal.SIGTERM, self._remember) or signal.SIG_DFL
                os.register_at_fork(after_in_child=self._forget)
            except ValueError:
                pass  # Not in the main thread.
        return self._seen

    def _remember(self, number: int, frame: Optional[FrameType]) -> None:
        if os.getpid() != self._process:  # During the fork, or from a later handler.
            signal.signal(signal.SIGTERM, self._previous)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self._seen = True
        self.notify()
        if callable(self._previous):
            self._previous(number, frame)

    def _forget(self) -> None:
        """Process.terminate() must end a forked worker."""
        if signal.getsignal(signal.SIGTERM) == self._remember:
            signal.signal(signal.SIGTERM, self._previous)


STOP_REQUEST = StopRequest()
