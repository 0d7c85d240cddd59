"""Faults that are injected into streams to test how a job handles them."""

import os
import signal
from typing import Callable, List, NamedTuple, NoReturn, Optional, Tuple

_MIDDLE = 4096
"""The assumed middle of an epoch of unknown length."""

_TURN, _MOMENT = 0.02, 1.0


class Injection(NamedTuple):
    """What happens to every epoch of a channel, or only to those of one ``host``, ``channel``, or number ``epoch``.

    ``stall``: after half of its bytes, that many seconds of silence. ``truncate``: it ends after that many bytes, as if
    complete. ``kill_writer``: after half of its bytes the feeder dies, and with it all channels of the host.
    ``is_awaited``: nothing happens before the reader has read everything, and then waits for more.
    """

    stall: float = 0
    truncate: Optional[int] = None
    kill_writer: bool = False
    host: Optional[str] = None
    channel: Optional[str] = None
    epoch: Optional[int] = None
    is_awaited: bool = False

    def concerns(self, channel: str, epoch: int) -> bool:
        """Return whether anything happens to this epoch."""
        return self.channel in (None, channel) and self.epoch in (None, epoch)


class EpochCutShort(Exception):
    """An epoch ends here, by injection."""


class Injector:
    """The faults of one epoch. ``report`` announces one, ``sleep`` returns early, and True, if the feeder is stopped.

    ``unread`` returns how many bytes the reader has left, -1 if it has closed the FIFO.
    """

    def __init__(
        self,
        injection: Injection,
        total: Optional[int],
        report: Callable[[str], None],
        sleep: Callable[[float], bool],
        unread: Callable[[], int] = lambda: 0,
    ) -> None:
        self._report = report
        self._sleep = sleep
        self._unread = unread
        self._is_awaited = injection.is_awaited
        middle = _MIDDLE if total is None else total // 2
        acts: List[Tuple[int, Callable[[], None]]] = []
        if injection.stall:
            acts.append((middle, lambda: self._stall(injection.stall)))
        if injection.kill_writer:
            acts.append((middle, self._kill))
        if injection.truncate is not None:
            acts.append((injection.truncate, self._cut))
        self._acts = sorted(acts, key=lambda act: act[0])

    def allowed(self, sent: int, size: int) -> int:
        """Inject what is due after ``sent`` bytes; return how many of the next ``size`` bytes may pass."""
        while self._acts and self._acts[0][0] <= sent:
            self._acts.pop(0)[1]()
        return min(size, self._acts[0][0] - sent) if self._acts else size

    def _stall(self, seconds: float) -> None:
        self._await_reader()
        self._report("stall")
        self._sleep(seconds)

    def _cut(self) -> NoReturn:
        self._await_reader()
        self._report("truncate")
        raise EpochCutShort

    def _await_reader(self) -> None:
        """Return when the reader waits for more bytes. Raise BrokenPipeError if it needs no more."""
        if not self._is_awaited:
            return
        while self._unread() > 0 and not self._sleep(_TURN):
            pass
        self._sleep(_MOMENT)  # it may have what it needs, and close the FIFO
        if self._unread() < 0:
            raise BrokenPipeError

    def _kill(self) -> None:
        self._report("kill_writer")
        # The state after a crash: the stream ends in its middle, and FIFOs have no writer any more.
        os.kill(os.getpid(), signal.SIGKILL)
