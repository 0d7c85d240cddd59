"""A function mapped over numbers by several processes, its results in order. Nothing here knows what the work is.

The workers are forks of this process: they have everything that it has read. They draw batches from one pipe, so that
none waits for another, and each sends what it made through a pipe of its own. Only Linux forks a process with
libraries safely; elsewhere the work is done here.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

Made = TypeVar("Made")

FEWEST = 100
"""Pieces of work that are worth a second process."""

MOST_WORKERS = 8
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOST_BATCHES = 256  # the number of a batch is one byte
_HEAD = 9  # the number of a batch and the length of what was made, eight bytes


def parallel_map(count: int, work: Callable[[int], Made]) -> Iterator[Made]:
    """Yield ``work(0)``, ``work(1)`` … in this order, made by as many processes as there are processors.

    What raises in a worker is done again here, so that the exception is raised where the piece has its turn. Raises
    ChildProcessError when a worker is killed. However this ends, no worker is left.
    """
    workers = min(len(os.sched_getaffinity(0)), MOST_WORKERS) if sys.platform == "linux" else 1
    if workers < 2 or count < FEWEST:
        yield from map(work, range(count))
        return
    # Late: few repositories are so large.
    import pickle

    yield work(0)  # here, so that every worker has what it loads
    size = max(8, -(-(count - 1) // _MOST_BATCHES))
    batches = [range(start, min(start + size, count)) for start in range(1, count, size)]
    pool = _Pool()
    try:
        pool.start(workers, len(batches), lambda number: pickle.dumps([work(piece) for piece in batches[number]], -1))
        made = pool.gathered()
    finally:
        pool.end()
    for number, batch in enumerate(batches):
        yield from pickle.loads(made[number]) if number in made else map(work, batch)


class _Pool:
    """Some workers, their numbers by the pipes that lead from them."""

    def __init__(self) -> None:
        self._workers: dict[int, int] = {}

    def start(self, workers: int, batches: int, work: Callable[[int], bytes]) -> None:
        """Start workers that draw numbers below ``batches`` and send what ``work`` makes of them."""
        import gc  # late, as everything that only workers need

        gc.freeze()  # a collection in a worker would touch, and so copy, all that was read
        draw, feed = os.pipe()
        os.write(feed, bytes(range(batches)))
        os.close(feed)
        try:
            for _ in range(workers):
                self._fork(draw, work)
        except OSError:
            pass  # no room for another process: those that are there do it all, or this one does
        finally:
            os.close(draw)
            gc.unfreeze()

    def _fork(self, draw: int, work: Callable[[int], bytes]) -> None:
        receive, send = os.pipe()
        # Nobody is interrupted between being there and being known.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        try:
            number = os.fork()
            if number == 0:
                for pipe in (receive, *self._workers):
                    os.close(pipe)
                _labour(draw, send, work)
            self._workers[receive] = number
        finally:
            os.close(send)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def gathered(self) -> dict[int, bytes]:
        """Return what every batch came to, by its number; a batch that raised is not there."""
        import select

        received: dict[int, bytearray] = {pipe: bytearray() for pipe in self._workers}
        poll = select.poll()
        for pipe in received:
            poll.register(pipe, select.POLLIN)
        while self._workers:
            for pipe, _ in poll.poll():
                chunk = os.read(pipe, 1 << 20)
                if chunk:
                    received[pipe] += chunk
                else:
                    poll.unregister(pipe)
                    self._ended(pipe)
        return dict(part for content in received.values() for part in _parts(bytes(content)))

    def _ended(self, pipe: int) -> None:
        number = self._workers.pop(pipe)
        os.close(pipe)
        _, status = os.waitpid(number, 0)
        if os.WIFSIGNALED(status):
            cause = f"killed by signal {os.WTERMSIG(status)}"
            raise ChildProcessError(f"a worker process was {cause}; check the available memory")

    def end(self) -> None:
        """Kill the workers that are left."""
        while self._workers:
            pipe, number = self._workers.popitem()
            os.close(pipe)
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)


def _parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        end = at + _HEAD + int.from_bytes(content[at + 1 : at + _HEAD], "big")
        yield content[at], content[at + _HEAD : end]
        at = end


def _labour(draw: int, send: int, work: Callable[[int], bytes]) -> NoReturn:
    """Be a worker: draw batches until there are none, and end without touching what is the parent's to end."""
    status = 1
    try:
        for number in _STOPPING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        while batch := os.read(draw, 1):
            made = work(batch[0])
            rest = memoryview(batch + len(made).to_bytes(_HEAD - 1, "big") + made)
            while rest:
                rest = rest[os.write(send, rest) :]
        status = 0
    finally:
        os._exit(status)  # whatever was raised, the parent does that batch again and is the one to tell
