"""The plan of a feeder, to and from JSON; and the faults of streams in it, injected to test a job."""

import json
import os
import signal
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Tuple

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


class FeederChannel(NamedTuple):
    """One channel of one host.

    ``source`` is a local directory or file, or an S3 URI; ``uri`` is the S3 URI that it replaces. ``s3_data_type``,
    ``compression``, and ``record_wrapper`` are the API's literals. This host is number ``shard`` of the ``shards`` that
    divide the objects among them; 0 of 1 if every host gets all. ``epochs`` None: as many as are read. ``tops``:
    directories without links that the files of a manifest must be in; none if they can be anywhere.
    """

    name: str
    source: str
    uri: str = ""
    s3_data_type: str = "S3Prefix"
    attributes: List[str] = []
    shard: int = 0
    shards: int = 1
    shuffle_seed: Optional[int] = None
    compression: str = "None"
    record_wrapper: str = "None"
    epochs: Optional[int] = None
    tops: List[str] = []


class FeederPlan(NamedTuple):
    """``directory``: where the FIFOs are created. ``rate``: bytes per second, for each channel; None: no limit.

    ``injection``: the faults to inject, in every channel.
    """

    directory: str
    channels: List[FeederChannel]
    rate: Optional[int] = None
    injection: Optional[Injection] = None

    def to_json(self) -> str:
        """Return the plan as one line of JSON."""
        members = dict(self._asdict(), channels=[channel._asdict() for channel in self.channels])
        if self.injection is not None:
            members["injection"] = self.injection._asdict()
        return json.dumps(members, sort_keys=True)


def decode_plan(text: str) -> FeederPlan:
    """Parse what `FeederPlan.to_json` wrote. Raise ValueError if it is something else."""
    members: Dict[str, Any] = json.loads(text)
    try:
        channels = [FeederChannel(**channel) for channel in members.pop("channels")]
        injection = members.pop("injection", None)
        if injection is not None:
            injection = Injection(**injection)
        return FeederPlan(channels=channels, injection=injection, **members)
    except (AttributeError, KeyError, TypeError) as fault:
        raise ValueError("not a plan of this feeder: {}".format(fault)) from None
