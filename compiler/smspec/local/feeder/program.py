"""The feeder as a program: ``feeder [--until-eof] [plan.json]``; without a file, the plan is the first line of stdin.

It runs until every epoch of the plan was read, or until a signal asks it to end, or with ``--until-eof`` until stdin
ends, which means that its parent process has died. It removes its FIFOs. A channel is fed FIFO after FIFO, epoch after
epoch, each as soon as it is opened for reading. What happens is reported as events: one JSON object per line, with the
seconds since the start of the feeder.
"""

import json
import os
import select
import signal
import sys
import threading
import time
from typing import Any, List, NoReturn, Optional, Tuple

from .entries import Entries, entries_of, order
from .fifo import Bucket, Fifos, Sink, unread
from .objects import ChannelDataError, LocalStore, OpenStore, Store, StoreUnavailable, reason
from .plan import EpochCutShort, FeederChannel, FeederPlan, Injector, decode_plan
from .writing import Writer, framed_size

PROGRESS_SECONDS = 0.2
UNTIL_EOF = "--until-eof"
_STDIN, _STDOUT = 0, 1


class Reporting:
    """Writes events to a file descriptor, from any thread. A closed reader is ignored."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def ready(self) -> None:
        """The first FIFO of every channel exists."""
        self._write(event="ready")

    def opened(self, channel: str, epoch: int, total: Optional[int]) -> None:
        """An epoch is opened for reading, of ``total`` bytes if that is known in advance."""
        self._write(event="opened", channel=channel, epoch=epoch, total=total)

    def sent(self, channel: str, epoch: int, size: int) -> None:
        """The number of bytes of an epoch that were read so far."""
        self._write(event="sent", channel=channel, epoch=epoch, bytes=size)

    def injected(self, channel: str, epoch: int, size: int, kind: str) -> None:
        """A fault is injected after ``size`` bytes; ``kind`` is the name of a member of Injection."""
        self._write(event="injected", channel=channel, epoch=epoch, bytes=size, kind=kind)

    def ended(self, channel: str, epoch: int, size: int, seconds: float, early: bool) -> None:
        """An epoch is over; ``early``: the reader closed the FIFO before the end."""
        self._write(event="ended", channel=channel, epoch=epoch, bytes=size, seconds=round(seconds, 6), early=early)

    def fault(self, channel: str, epoch: int, message: str, unavailable: bool) -> None:
        """The data cannot be fed; ``unavailable``: their store cannot be reached."""
        self._write(event="fault", channel=channel, epoch=epoch, message=message, unavailable=unavailable)

    def _write(self, **event: Any) -> None:
        event["at"] = round(time.monotonic() - self._start, 6)
        line = (json.dumps(event) + "\n").encode("ascii")
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                pass


class Feeding:
    """Feeds one channel in a thread of its own. `current` is its progress: the epoch and its sink."""

    def __init__(
        self,
        channel: FeederChannel,
        store: Store,
        plan: FeederPlan,
        fifos: Fifos,
        reporting: Reporting,
        stop: threading.Event,
    ) -> None:
        self.channel = channel
        self.current: Optional[Tuple[int, Sink]] = None
        self._store = store
        self._fifos = fifos
        self._reporting = reporting
        self._stop = stop
        self._rate = plan.rate
        self._injection = plan.injection
        # A daemon: a write without a reader cannot be interrupted, and must not keep the process alive.
        self.thread = threading.Thread(target=self._run, name="feed " + channel.name, daemon=True)

    def prepare(self) -> None:
        """Create the FIFO of the first epoch."""
        self._make(0)

    def _run(self) -> None:
        epoch = 0
        try:
            entries = entries_of(self.channel, self._store)
            while not self._is_over(epoch) and self._feed_epoch(entries, epoch):
                epoch += 1
            return
        except ChannelDataError as fault:
            message = str(fault)
            unavailable = isinstance(fault, StoreUnavailable)
        except OSError as error:
            message = reason(error)
            unavailable = False
        self._reporting.fault(self.channel.name, epoch, message, unavailable)
        # The FIFO stays open until the feeder is stopped: a clean end would look like a complete epoch.
        self._stop.wait()

    def _feed_epoch(self, entries: Entries, epoch: int) -> bool:
        """Feed one epoch; return False if the feeder was stopped."""
        channel = self.channel
        indexes = order(len(entries), channel.shuffle_seed, epoch, channel.shard, channel.shards)
        if not self._is_over(epoch + 1):
            self._make(epoch + 1)  # SageMaker creates the next FIFO in advance
        descriptor = self._fifos.open_for_reader(self._name(epoch), self._stop)
        if descriptor is None:
            return False
        started = time.monotonic()
        total = self._total(entries, indexes)
        sink = Sink(descriptor, Bucket(self._rate, self._stop.wait) if self._rate else None)
        if self._injection is not None and self._injection.concerns(channel.name, epoch):
            sink.injector = Injector(
                self._injection,
                total,
                lambda kind: self._reporting.injected(channel.name, epoch, sink.sent, kind),
                self._stop.wait,
                lambda: unread(descriptor),
            )
        self._reporting.opened(channel.name, epoch, total)
        self.current = epoch, sink
        early = False
        try:
            self._write(entries, indexes, Writer(channel, sink))
        except BrokenPipeError:
            early = True  # an algorithm ends an epoch early by closing the FIFO
        except EpochCutShort:
            pass
        # Report and remove it before the reader can see the end, so a reader that saw it can rely on both.
        self.current = None
        self._reporting.ended(channel.name, epoch, sink.sent, time.monotonic() - started, early)
        self._fifos.remove(self._name(epoch))
        os.close(descriptor)
        return True

    def _write(self, entries: Entries, indexes: List[int], writer: Writer) -> None:
        contents = self._store.contents(part for index in indexes for part in entries.parts(index))
        try:
            for part, blocks in contents:
                writer.put(part, blocks)
            writer.flush()
        finally:
            contents.close()  # now, not when the generator is collected: it may be fetching ahead

    def _total(self, entries: Entries, indexes: List[int]) -> Optional[int]:
        """Return the number of bytes of an epoch, or None if they must be decompressed or downloaded first."""
        if self.channel.compression == "Gzip":
            return None
        wrapped = self.channel.record_wrapper == "RecordIO"
        return entries.size(indexes, framed_size if wrapped else None)

    def _is_over(self, epoch: int) -> bool:
        return self.channel.epochs is not None and epoch >= self.channel.epochs

    def _make(self, epoch: int) -> None:
        self._fifos.make(self._name(epoch))

    def _name(self, epoch: int) -> str:
        return "{}_{}".format(self.channel.name, epoch)


def main(arguments: List[str], open_store: OpenStore = LocalStore) -> NoReturn:
    """Feed the channels of the plan, from the stores that ``open_store`` opens."""
    until_eof = UNTIL_EOF in arguments
    files = [argument for argument in arguments if argument != UNTIL_EOF]
    try:
        if files:
            with open(files[0], encoding="utf-8") as file:
                plan = decode_plan(file.read())
        else:
            plan = decode_plan(_first_line(_STDIN))
    except (OSError, ValueError) as fault:
        sys.stderr.write("feeder: {}\n".format(fault))
        sys.exit(2)
    stop = threading.Event()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda _number, _frame: stop.set())
    fifos = Fifos(plan.directory)
    _feed(plan, open_store, fifos, stop, [wake, _STDIN] if until_eof else [wake])
    stop.set()
    fifos.close()
    # Not sys.exit: a thread may hang in a write without a reader.
    os._exit(0)


def _feed(plan: FeederPlan, open_store: OpenStore, fifos: Fifos, stop: threading.Event, watched: List[int]) -> None:
    reporting = Reporting(_STDOUT)
    feedings = [Feeding(channel, open_store(channel), plan, fifos, reporting, stop) for channel in plan.channels]
    for feeding in feedings:
        feeding.prepare()
    reporting.ready()
    for feeding in feedings:
        feeding.thread.start()
    while not stop.is_set() and any(feeding.thread.is_alive() for feeding in feedings):
        readable = select.select(watched, [], [], PROGRESS_SECONDS)[0]
        if _STDIN in readable and not os.read(_STDIN, 4096):
            break
        for feeding in feedings:
            _report(feeding, reporting)
    for feeding in feedings:
        _report(feeding, reporting)


def _report(feeding: Feeding, reporting: Reporting) -> None:
    current = feeding.current
    if current is not None:
        epoch, sink = current
        reporting.sent(feeding.channel.name, epoch, sink.sent)


def _first_line(descriptor: int) -> str:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    return line.decode("utf-8")
