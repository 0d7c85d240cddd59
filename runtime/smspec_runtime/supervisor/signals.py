"""Catches signals, and restores them for a program."""

import os
import signal
from types import FrameType

from .. import early_signals
from ..lean_typing import Callable, Iterator, Optional, Set

_UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}
_OF_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}  # Python ignores these; their earlier state is unknown.
_BACKGROUND = {signal.SIGTTIN, signal.SIGTTOU}  # Come from writing to a terminal given away, unless ignored.

# A real fault would loop in a handler. Blocked, it ends the process.
# Our own writes cause SIGPIPE, so only that of others is forwarded.
_FAULTS: Set[int] = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS, signal.SIGTRAP}
_COLLECTED = _FAULTS | _OF_PYTHON


class Signals:
    """``wakeup``: a descriptor, readable after a signal."""

    def __init__(self) -> None:
        self._ignored: Set[int] = set()
        self._mask: Set[int] = set()
        self.wakeup = -1

    def take_over(self, handler: Callable[[int, Optional[FrameType]], None]) -> None:
        """Call the handler for every signal except those of `collect`."""
        self.wakeup, write_end = os.pipe()
        for end in (self.wakeup, write_end):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in signal.valid_signals() - _UNCATCHABLE - _OF_PYTHON:
            if signal.getsignal(number) is signal.SIG_IGN:
                self._ignored.add(number)
            if number not in _COLLECTED:
                signal.signal(number, signal.SIG_IGN if number in _BACKGROUND else handler)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _COLLECTED)
        self._mask = set([*early_signals.masks, mask][0])  # Before any signal was held.
        self.release()

    def collect(self) -> Iterator[int]:
        """Yield those without a handler except our own."""
        if hasattr(signal, "sigtimedwait"):
            while (received := signal.sigtimedwait(_COLLECTED, 0)) is not None:
                if received.si_pid != os.getpid():
                    yield received.si_signo

    def hold(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def release(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _COLLECTED)

    def restore(self) -> None:
        for number in signal.valid_signals() - _UNCATCHABLE:
            signal.signal(number, signal.SIG_IGN if number in self._ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
