"""Call a function for many items, a few at once, in threads that never keep the process alive."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from smspec.wire.fault import WireFault

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

THREADS = 8

_CRASH = WireFault("")


def called(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[tuple[int, _Result | WireFault]]:
    """Yield the position of each item with its result, or the fault that the function raises, in any order."""
    waiting: queue.SimpleQueue[tuple[int, _Item]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, _Result | WireFault]] = queue.SimpleQueue()
    for numbered in enumerate(items):
        waiting.put(numbered)
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                number, item = waiting.get_nowait()
            except queue.Empty:
                return
            result: _Result | WireFault = _CRASH
            try:
                result = function(item)
            except WireFault as fault:
                result = fault
            finally:
                done.put((number, result))

    # Daemons: after Ctrl-C no thread keeps the process alive until its server answers.
    for _ in range(min(THREADS, len(items))):
        threading.Thread(target=work, name="ask an index", daemon=True).start()
    try:
        for _ in items:
            number, result = done.get()
            assert result is not _CRASH, "a thread has failed, and has shown why"
            yield number, result
    finally:
        stopped.set()
