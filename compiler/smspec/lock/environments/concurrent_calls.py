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
            try:
                done.put((number, function(item)))
            except WireFault as fault:
                done.put((number, fault))
            except BaseException:
                done.put((number, WireFault("smspec failed to read the response")))
                raise

    # Daemons: after Ctrl-C no thread keeps the process alive until its server answers.
    for _ in range(min(THREADS, len(items))):
        threading.Thread(target=work, name="ask an index", daemon=True).start()
    try:
        for _ in items:
            yield done.get()
    finally:
        stopped.set()
