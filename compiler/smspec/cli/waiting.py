"""What a command waits for: one line at the bottom of a terminal, or a line in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

from smspec.cli.console import Console
from smspec.diagnostics.open_question import drawing, erased, is_waiting_unseen
from smspec.diagnostics.quoting import visible
from smspec.local.record.units import screen, size

_SOON = 0.5
"""Seconds before a wait is shown: most are shorter."""

_LATER = 15.0
"""Seconds before a log gets the next line about the same wait."""

_LOOK_SECONDS = 0.1
_MOST_NAMED = 4
_Item = TypeVar("_Item")

_LINE_SECONDS, _DRAW_SECONDS = 30.0, 0.1


class Waiting:
    """Shows what is waited for, within a second. Only one wait at a time."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line = StatusLine(console)
        self._start = time.monotonic()
        self._next = _SOON
        self._is_said = False
        self._printing = threading.Lock()

    def start(self) -> None:
        """Begin a wait."""
        self._start, self._next, self._is_said = time.monotonic(), _SOON, False

    def show(self, waits: Sequence[str]) -> None:
        """Show what is waited for, unless the wait is short. Call it several times a second."""
        waited = time.monotonic() - self._start
        if waited < _SOON:
            return
        more = f", and {len(waits) - _MOST_NAMED} more" if len(waits) > _MOST_NAMED else ""
        text = f"waiting for {', '.join(waits[:_MOST_NAMED])}{more}"
        if self._console.err_is_terminal:
            self._line.draw(f"{text} ({waited:.0f} s)")
            if is_waiting_unseen() and not self._is_said:
                self._is_said = True
                self._console.remark(visible(text))
        elif waited >= self._next:
            self._next = waited + _LATER
            self._console.remark(visible(text))

    def end(self) -> None:
        """End a wait: remove the line from the terminal."""
        self._line.clear()

    @contextmanager
    def of(self, what: str) -> Iterator[threading.Lock]:
        """Show the wait for calls that the context makes, and print nothing there without holding the lock."""
        over, printing = threading.Event(), self._printing

        def look() -> None:
            while not over.wait(_LOOK_SECONDS):
                if printing.acquire(blocking=False):
                    try:
                        self.show((what,))
                    finally:
                        printing.release()

        self.start()
        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield printing
        finally:
            over.set()
            thread.join()
            self.end()

    def sleep(self, seconds: float) -> None:
        """Sleep in what `each` gets its items from: a pause is not a wait."""
        with self._printing:
            self.end()
            time.sleep(seconds)
            self.start()

    def each(self, what: str, found: Iterable[_Item]) -> Generator[_Item, None, None]:
        """Yield what is found, and show the wait for each, unless its user is printing the one before."""
        rest, end = iter(found), object()
        with self.of(what) as printing:
            while (one := next(rest, end)) is not end:
                with printing:
                    self.end()
                    yield cast(_Item, one)
                    self.start()


class StatusLine:
    """Draws on standard error, only if that is a terminal. Clear it before anything else is written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_drawn = False

    def draw(self, text: str) -> None:
        """Show a text instead of the last one, cut to the width of the terminal, unless a person is asked there."""
        if self._console.err_is_terminal and self._console.verbosity >= 0:
            with drawing(self.clear) as may_draw:
                if may_draw:
                    self._console.paint(f"\r\x1b[K{visible(text)[: screen()[0] - 1]}")
                    self._is_drawn = True

    def clear(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._console.paint("\r\x1b[K")
            erased(self.clear)


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
