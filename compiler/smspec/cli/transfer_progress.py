"""The progress of a transfer: one line at the bottom of a terminal, elsewhere a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from smspec.cli.console import Console
from smspec.cli.status_line import StatusLine
from smspec.local.units import size

_LINE_SECONDS, _DRAW_SECONDS = 30.0, 0.1


@contextmanager
def transfer_progress(what: str, whole: int, console: Console) -> Iterator[Callable[[int], None]]:
    """Show how many bytes of ``whole`` are done; yield what gets the bytes of each step, from any thread."""
    line, lock = StatusLine(console), threading.Lock()
    done, shown = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, shown
        with lock:
            done += count
            now = time.monotonic()
            if now - shown < (_DRAW_SECONDS if console.err_is_terminal else _LINE_SECONDS):
                return
            shown = now
            text = f"{what}: {size(done)} of {size(whole)}"
            if console.err_is_terminal:
                line.draw(text)
            else:
                console.remark(text)

    try:
        yield advance
    finally:
        line.clear()
