"""Faults that are injected into streams to test how a job handles them."""

import os
import signal
from typing import Callable, List, NamedTuple, NoReturn, Optional, Tuple

_MIDDLE = 4096
"""The assumed middle of an epoch of unknown length."""


class Injection(NamedTuple):
    """What happens to every epoch of a channel.

    ``stall``: after half of its bytes, that many seconds of silence. ``truncate``: it ends after that many bytes, as if
    complete. ``kill_writer``: after half of its bytes the feeder dies, and with it all channels of the host.
    """

    stall: float = 0
    truncate: Optional[int] = None
    kill_writer: bool = False


class EpochCutShort(Exception):
    """An epoch ends here, by injection."""


class Injector:
    """The faults of one epoch. ``report`` announces one, ``sleep`` returns early if the feeder is stopped."""

    def __init__(
        self,
        injection: Injection,
        total: Optional[int],
        report: Callable[[str], None],
        sleep: Callable[[float], object],
    ) -> None:
        self._report = report
        middle = _MIDDLE if total is None else total // 2
        acts: List[Tuple[int, Callable[[], None]]] = []
        if injection.stall:
            acts.append((middle, lambda: self._stall(injection.stall, sleep)))
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

    def _stall(self, seconds: float, sleep: Callable[[float], object]) -> None:
        self._report("stall")
        sleep(seconds)

    def _cut(self) -> NoReturn:
        self._report("truncate")
        raise EpochCutShort

    def _kill(self) -> None:
        self._report("kill_writer")
        # The state after a crash: the stream ends in its middle, and FIFOs have no writer any more.
        os.kill(os.getpid(), signal.SIGKILL)
