"""What a person sees while a result is downloaded and unpacked."""

from __future__ import annotations

import time

from smspec.cli.console import Console
from smspec.cli.job_lines import elapsed
from smspec.cli.status_line import StatusLine
from smspec.collection.stored_result import StoredResult
from smspec.diagnostics.visible import visible
from smspec.local.units import size

_INTERVAL_SECONDS = 0.2


class DownloadProgress:
    """One line for the whole result on a terminal; without one, a line for each file with ``-v``."""

    def __init__(self, result: StoredResult, console: Console) -> None:
        self._line = StatusLine(console)
        self._console = console
        self._all = result.size
        self._finished = 0
        self._start = self._drawn = time.monotonic()
        count = len(result.files)
        if count:
            console.remark(f"{result.place}: {'1 file' if count == 1 else f'{count} files'}, {size(self._all)}")

    def __call__(self, name: str, done: int, whole: int) -> None:
        if done == 0:
            self._console.detail(f"{visible(name)}, {size(whole)}")
        now = time.monotonic()
        if now - self._drawn >= _INTERVAL_SECONDS:
            self._drawn = now
            self._line.draw(self._text(name, self._finished + done, now - self._start))
        if done == whole:
            self._finished += whole

    def warn(self, text: str) -> None:
        self.clear()
        self._console.say(f"warning: {visible(text)}")

    def clear(self) -> None:
        self._line.clear()

    def _text(self, name: str, done: int, seconds: float) -> str:
        left = elapsed((self._all - done) * seconds / done) if done else "?"
        return f"{name}: {size(done)} of {size(self._all)}, {size(done / seconds)}/s, {left} left"
