"""Map a function over numbers with several processes, results in order.

The workers are forks of this process: they have everything that it has read. Each has a share of neighboring items,
which have much in common, and takes batches of it from a pipe; then it helps the others, so none waits. Each sends its
results through a pipe of its own. Only Linux can safely fork a process with loaded libraries; elsewhere this process
does the work.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

from smspec.workspace.deferred_signals import STOPPING

Made = TypeVar("Made")

FEWEST = 100
"""The number of items that are worth a second process."""

MOST_WORKERS = 8
_MOST_BATCHES = 256  # the number of a batch is one byte
_SELDOM = 200_000  # objects between two garbage collections of a worker: checking a spec leaves few to collect
_HEAD = 9  # the number of a batch, and the length of its result in eight bytes


def parallel_map(
    count: int, work: Callable[[int], Made], *, is_typical: Callable[[Made], bool] = lambda _: True
) -> Iterator[Made]:
    """Yield ``work(0)``, ``work(1)`` … in this order, computed by as many processes as there are processors.

    This process works until a result ``is_typical``, so that every worker has what such work loads. What raises in a
    worker is repeated in this process, so the exception is raised in the item's turn. Raise ChildProcessError if a
    worker is killed. However this ends, no worker is left.
    """
    workers = min(len(os.sched_getaffinity(0)), MOST_WORKERS) if sys.platform == "linux" else 1
    if workers < 2 or count < FEWEST:
        yield from map(work, range(count))
        return
    # Imported late: few repositories are so large.
    import pickle

    first = 0
    for first in range(count):
        made = work(first)
        yield made
        if is_typical(made):
            break
    size = max(8, -(-(count - first - 1) // _MOST_BATCHES))
    batches = [range(start, min(start + size, count)) for start in range(first + 1, count, size)]
    pool = _Pool()
    try:
        pool.start(workers, len(batches), lambda number: pickle.dumps([work(piece) for piece in batches[number]], -1))
        received = {number: pickle.loads(result) for number, result in pool.results()}
    finally:
        pool.end()
    for number, batch in enumerate(batches):
        yield from received[number] if number in received else map(work, batch)


class _Pool:
    """Worker processes, their numbers by the pipes from them."""

    def __init__(self) -> None:
        self._workers: dict[int, int] = {}

    def start(self, workers: int, batches: int, work: Callable[[int], bytes]) -> None:
        """Start workers that take numbers below ``batches`` and send the result of ``work`` for them."""
        import gc  # imported late, like everything that only workers need

        gc.freeze()  # a garbage collection in a worker would write to, and so copy, all pages
        shares = [
            _filled_pipe(range(batches * worker // workers, batches * (worker + 1) // workers))
            for worker in range(workers)
        ]
        try:
            for worker in range(workers):
                self._fork([*shares[worker:], *shares[:worker]], work)
        except OSError:
            pass  # no room for another process: the existing ones do it all, or this one does
        finally:
            for share in shares:
                os.close(share)
            gc.unfreeze()

    def _fork(self, shares: list[int], work: Callable[[int], bytes]) -> None:
        receive, send = os.pipe()
        # Block signals until the process is registered.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            number = os.fork()
            if number == 0:
                for pipe in (receive, *self._workers):
                    os.close(pipe)
                _labour(shares, send, work)
            self._workers[receive] = number
        finally:
            os.close(send)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def results(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of every batch and its result, as they arrive; a batch that raised is missing."""
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
                    yield from _whole_parts(received[pipe])
                else:
                    poll.unregister(pipe)
                    self._ended(pipe)

    def _ended(self, pipe: int) -> None:
        number = self._workers.pop(pipe)
        os.close(pipe)
        _, status = os.waitpid(number, 0)
        if os.WIFSIGNALED(status):
            cause = f"killed by signal {os.WTERMSIG(status)}"
            raise ChildProcessError(f"a worker process was {cause}; check the available memory")

    def end(self) -> None:
        """Kill the remaining workers."""
        while self._workers:
            pipe, number = self._workers.popitem()
            os.close(pipe)
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)


def _filled_pipe(numbers: range) -> int:
    """Return a pipe from which each of ``numbers`` can be read once."""
    draw, feed = os.pipe()
    os.write(feed, bytes(numbers))
    os.close(feed)
    return draw


def _whole_parts(content: bytearray) -> Iterator[tuple[int, bytes]]:
    """Remove from the start of what a worker sent every result that is whole, and yield it with its number."""
    while len(content) >= _HEAD and len(content) >= (end := _HEAD + int.from_bytes(content[1:_HEAD], "big")):
        yield content[0], bytes(content[_HEAD:end])
        del content[:end]


def _labour(shares: list[int], send: int, work: Callable[[int], bytes]) -> NoReturn:
    """Run a worker: take batches of its share, then of the others, and exit without the parent's exit handlers."""
    import gc  # as in `_Pool.start`

    status = 1
    try:
        gc.set_threshold(_SELDOM)
        for number in STOPPING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        for share in shares:
            while batch := os.read(share, 1):
                made = work(batch[0])
                rest = memoryview(batch + len(made).to_bytes(_HEAD - 1, "big") + made)
                while rest:
                    rest = rest[os.write(send, rest) :]
        status = 0
    finally:
        os._exit(status)  # the parent repeats the batch and raises its exception
