"""Writers of FIFOs that behave like the data agent of SageMaker, and faulty ones."""

from __future__ import annotations

import contextlib
import os
import threading
import time


class Writer:
    """Writes pieces into a FIFO from a thread. ``broken``: the reader closed it, ``done``: the thread ended."""

    def __init__(self, path, pieces, pause=0.0, create=False, delay=0.0, linger=0.0):
        self.path = str(path)
        self.pieces = pieces
        self.pause = pause
        self.delay = delay
        self.linger = linger
        self.create = create
        self.written = 0
        self.broken_at = None
        self.done = threading.Event()
        self.connected = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        time.sleep(self.delay)
        if self.create:
            os.mkfifo(self.path)
        try:
            descriptor = os.open(self.path, os.O_WRONLY)
        except FileNotFoundError:  # the test ended first, and its directory is gone
            self.done.set()
            return
        self.connected.set()
        try:
            for piece in self.pieces:
                view = memoryview(piece)
                while view:
                    count = os.write(descriptor, view)
                    self.written += count
                    view = view[count:]
                if self.pause:
                    time.sleep(self.pause)
            time.sleep(self.linger)
        except BrokenPipeError:
            self.broken_at = time.monotonic()
        finally:
            os.close(descriptor)
            self.done.set()

    @property
    def broken(self):
        return self.broken_at is not None

    def join(self, seconds=20):
        assert self.done.wait(seconds), f"the writer of {self.path} is still busy"


def eventually(condition, what, seconds=20):
    """Poll until ``condition()`` holds; return its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited in vain for " + what
        time.sleep(0.005)


def descriptors_of(path, process="self"):
    """How many descriptors of a process, this one or another, are open on a file."""
    count = 0
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/{process}/fd/{name}") == str(path)
    return count
