"""What asks a command to end, during a run: an exception between steps, a flag while the job runs."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType

from smspec.local.running.request import RunInterrupted
from smspec.workspace.deferred_signals import STOP_REQUESTS, STOPPING


class Signals:
    """In this context, a signal to stop raises `RunInterrupted`; from `note` to `interrupt` it is only recorded.
    Those that follow the first within a second are recorded too.

    ``descriptor`` becomes readable when one arrives, to wake a selector.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._is_noting = False

    def __enter__(self) -> Signals:
        STOP_REQUESTS.forget()
        self.descriptor, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self.descriptor, False)
        self._old_waker = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        # Keep ignored signals ignored: SIGHUP for nohup, and SIGINT for what a shell runs in the background.
        heeded = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
        self._old = {number: signal.signal(number, self._handle) for number in heeded}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.note()  # an exception here would keep these handlers
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_waker)
        os.close(self._waker)
        os.close(self.descriptor)

    def note(self) -> None:
        """From here on, only record signals. One that came before is in `received`."""
        self._is_noting = True

    def interrupt(self) -> None:
        """From here on, raise `RunInterrupted` again."""
        self._is_noting = False

    def drain(self) -> None:
        """Reset `descriptor`."""
        try:
            os.read(self.descriptor, 64)
        except BlockingIOError:
            pass

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        if not self._is_noting and STOP_REQUESTS.is_new():
            raise RunInterrupted(number)
