"""Several streams at once: each has a thread."""

import os
import threading
import time
from queue import SimpleQueue
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from .errors import PipeError
from .fifo import Layer
from .prefetch import JOIN
from .stop_waits import Wake
from .stream import Stream

AHEAD = 2  # chunks of items per stream


def merge(streams: Mapping[str, Stream]) -> Iterator[Tuple[str, Any]]:
    """Yield (name, item); chunks become bytes. A fault follows the items before it; leaving closes the streams."""
    turns: "SimpleQueue[Any]" = SimpleQueue()
    lanes = [Lane(name, stream, turns) for name, stream in streams.items()]
    process, reading = os.getpid(), len(lanes)
    try:
        for lane in lanes:
            lane.start()
        while reading and process == os.getpid():  # a fork has no threads
            began = time.monotonic()
            lane, turn = turns.get()
            waited = (time.monotonic() - began) / len(lanes)
            for each in lanes:
                each.stats.merge_starved += waited
            if turn is None:
                reading -= 1
                if lane.fault:
                    raise lane.fault
                continue
            for item in turn:
                if lane.reader.exhausted:
                    break
                yield lane.name, item
            lane.room.release()
    finally:
        for lane in lanes:
            lane.close()


class Lane(Layer):
    """One stream and its thread, below the reader."""

    def __init__(self, name: str, stream: Stream, turns: "SimpleQueue[Any]") -> None:
        super().__init__(stream.reader.source)
        self.name, self.reader = name, stream.reader
        self.room = threading.Semaphore(AHEAD)
        self.fault: Optional[Exception] = RuntimeError(f"the thread that reads {stream.origin} has died")
        self._items = iter(stream) if stream.view != "chunks" else map(bytes, stream)
        self._turns = turns
        self._turn: List[Any] = []
        self._cancel = Wake()
        self._thread = threading.Thread(target=self._read, name="smspec-merge", daemon=True)

    def start(self) -> None:
        self.stats.starving = "merge_starved"
        self.watch(self._cancel)
        self.reader.source = self
        self._thread.start()

    def readinto(self, view: memoryview) -> int:
        self._hand_over()
        return int(self.below.readinto(view))

    def close(self) -> None:
        self._cancel.stop()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self.room.release()
            self._thread.join(JOIN)
        self.reader.source = self.below
        self.below.close()

    def _read(self) -> None:
        try:
            for item in self._items:
                self._turn.append(item)
            self.fault = None
        except (PipeError, OSError) as fault:
            self.fault = fault
        finally:
            self._hand_over()
            self._turns.put((self, None))

    def _hand_over(self) -> None:
        if self._turn and (self._cancel.stopping or self.room.acquire()):
            self._turns.put((self, self._turn))
            self._turn = []
