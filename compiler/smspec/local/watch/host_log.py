"""The log of one host: stdout and stderr, each split into lines, and written to its file; and its end, without secrets.

A read is looked at as a whole: a job may print a million lines per second. Lines are made only where something reads
them. A line without an end is split, so that neither it nor a part of it needs more memory than two reads. What the
runtime masks in the failure file is masked in the summary and the report, too.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import BinaryIO

from smspec.diagnostics.quoting import last_state
from smspec.diagnostics.secrets import option_name
from smspec.local.running.training_request import TrainingRequest
from smspec_runtime.masking import (
    MASK,
    fetched_values,
    is_secret,
    masked_text,
    secret_arguments,
    secret_values,
    secret_variables,
)

_READ = 1 << 16
_LONGEST_LINE = 1 << 16
LOG_LINES = 200
_LONGEST_SHOWN = 2000
_LONGEST_SECRET = 4096
_LONGEST_KEPT = _LONGEST_SHOWN + _LONGEST_SECRET
"""Characters of a line after those that are shown: a secret that begins in these is masked as a whole."""

_STARTS_OF_BARS = (b"[", b"|", b"\xe2")
_FILL = rb"[#=>.*+~\x80-\xff-][#=>.*+~ \x80-\xff-]{4}"
_BARS = (
    rb" \[[\d\x80-\xff]+:[\d:\x80-\xff]+[<,]",
    rb"\[" + _FILL,
    rb"\|" + _FILL,
    rb"\| +\| E",
    rb"\xe2(?:\x94\x81|\x95[\xb8\xba])(?:\xe2\x94\x81|\xe2\x95[\xb8\xba]){4}",
)
"""In a line that `split_bar` splits, one of these is found. Each begins with one byte, so a search takes no time."""


class LogText:
    """Lines of one stream, without the last line feed."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def plain(self) -> bytes | None:
        """The lines as a terminal shows them, if that needs no look at each: none has states or a progress bar."""
        data = self.data
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").rstrip(b"\r")
            if b"\r" in data:
                return None
        return None if _may_have_bar(data) else data

    @cached_property
    def lines(self) -> list[str]:
        """The lines as a terminal shows them: the last state of each."""
        if self.plain is not None:
            return self.plain.decode("utf-8", "replace").split("\n")
        return [shown for line in self.data.split(b"\n") for shown in _shown(line)]

    def divided(self, mark: str) -> Iterable[LogText]:
        """Return this text if no line has ``mark``, else each line."""
        return self.singly() if mark.encode() in self.data else [self]

    def starts_with(self, mark: str) -> bool:
        """Return whether the first line does."""
        return self.data.startswith(mark.encode())

    def singly(self) -> Iterator[LogText]:
        """Yield each line as a terminal shows it."""
        for line in self.lines:
            text = LogText(line.encode())
            text.lines = [line]
            yield text

    def joined(self, start: str) -> str:
        """Return the lines as one text, each but the first behind ``start``."""
        if "lines" in self.__dict__ or self.plain is None:
            return f"\n{start}".join(self.lines)
        return self.plain.decode("utf-8", "replace").replace("\n", f"\n{start}")

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.lines) if self.plain is None else self.plain.count(b"\n") + 1


class HostLog:
    """Two pipes that a host writes to, and a file that gets whole lines of both, byte for byte.

    A container engine splits each stream by itself, too, so the start of a line on one never stands in a line of the
    other, such as a progress bar before a metric.

    ``descriptors`` become readable when the host has written something, or ended. ``streams``: its stdout and stderr.
    """

    def __init__(self, path: str) -> None:
        self._file: BinaryIO | None = open(path, "wb")
        stdout, stderr = os.pipe(), os.pipe()
        self.descriptors = (stdout[0], stderr[0])
        self.streams = [stdout[1], stderr[1]]
        self._begun = dict.fromkeys(self.descriptors, b"")
        self._unended: int | None = None

    def close_streams(self) -> None:
        """Leave the streams to the host, which has started."""
        while self.streams:
            os.close(self.streams.pop())

    def read(self, descriptor: int) -> list[LogText] | None:
        """Read what one stream has available, which may block, and return the lines that it ends; None at the end."""
        data = os.read(descriptor, _READ)
        return self._take(descriptor, data) if data else None

    def close(self) -> list[LogText]:
        """Close everything, and return a last line of each stream without a line feed."""
        if self._file is None:
            return []
        for descriptor, rest in self._begun.items():
            os.close(descriptor)
            if rest:
                self._write(descriptor, rest)
        self.close_streams()
        self._file.close()
        self._file = None
        return [LogText(rest) for rest in self._begun.values() if rest]

    def _take(self, descriptor: int, data: bytes) -> list[LogText]:
        texts = []
        data = self._begun[descriptor] + data
        end = data.rfind(b"\n") + 1
        self._begun[descriptor] = begun = data[end:]
        if end:
            self._write(descriptor, data[:end])
            texts.append(LogText(data[: end - 1]))
        if len(begun) > _LONGEST_LINE:
            # A character may be incomplete.
            used = len(begun) if begun[-1] < 0x80 else codecs.utf_8_decode(begun, "replace", False)[1]
            self._begun[descriptor] = begun[used:]
            self._write(descriptor, begun[:used])
            texts.append(LogText(begun[:used]))
        return texts

    def _write(self, descriptor: int, data: bytes) -> None:
        if self._file is None:
            return
        if self._unended not in (None, descriptor):
            self._file.write(b"\n")
        self._file.write(data)
        self._file.flush()
        self._unended = None if data.endswith(b"\n") else descriptor


def _shown(line: bytes) -> list[str]:
    """Decode a line and return what a terminal would show, its `last_state`.

    A progress bar does not end its line: what is printed next stands behind it, and is a line.
    """
    state = last_state(line.decode("utf-8", "replace"))
    return split_bars(state) if _may_have_bar(line) else [state]


def split_bars(text: str) -> list[str]:
    """Return a progress bar and the message behind it, or one text."""
    from smspec_runtime.progress_bar import split_bar  # imported late: most logs have no bars

    return split_bar(text)


def _may_have_bar(data: bytes) -> bool:
    return any(start in data for start in _STARTS_OF_BARS) and any(bar.search(data) for bar in _bars())


@cache
def _bars() -> list[re.Pattern[bytes]]:
    return [re.compile(bar) for bar in _BARS]


class LogTail:
    """The last lines of a host's log. ``hide`` masks secrets in a text."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide
        self._texts: deque[LogText | list[str]] = deque()
        self._counts: deque[int] = deque()
        self._kept = self._count = 0

    def add(self, text: LogText) -> None:
        # Masked at the end, when most lines are gone: the search takes a microsecond for each character.
        count = text.count
        self._texts.append(text if len(text.data) <= count * _LONGEST_KEPT else _cut(text.lines))
        self._counts.append(count)
        self._kept += count
        self._count += count
        while self._kept - self._counts[0] >= LOG_LINES:
            self._texts.popleft()
            self._kept -= self._counts.popleft()

    @property
    def text(self) -> str:
        kept = [line for text in self._texts for line in (text if isinstance(text, list) else text.lines)]
        # Mask a secret before it may be truncated.
        lines = (self._hide(line)[:_LONGEST_SHOWN] if len(line) > _LONGEST_SHOWN else line for line in _cut(kept))
        return self._hide("\n".join(lines))

    @property
    def left_out(self) -> int:
        """The number of lines before these."""
        return self._count - min(self._kept, LOG_LINES)


def _cut(lines: Sequence[str]) -> list[str]:
    return [line[:_LONGEST_KEPT] for line in lines[-LOG_LINES:]]


def redactor(
    request: TrainingRequest, inherited: Mapping[str, str], arguments: Sequence[str], fetched: Iterable[str] = ()
) -> Callable[[str], str]:
    """Return a function that masks the values of hyperparameters, variables, and arguments with secret names.

    The variables ``fetched`` are secret whatever their names are.
    """
    named = {name: _decoded(value) for name, value in request.hyperparameters.items()}
    secrets = [*secret_values(named), *secret_variables({**inherited, **request.environment})]
    secrets += fetched_values([inherited.get(name, "") for name in fetched])
    secrets += secret_arguments(arguments)
    return lambda text: masked_text(text, secrets)


def shown_hyperparameters(request: TrainingRequest, hide: Callable[[str], str]) -> dict[str, str]:
    """Return the hyperparameters of a job by name, secrets masked; whatever has the name of a secret is one."""
    named = sorted(request.hyperparameters.items())
    return {name: MASK if is_secret(name) else hide(value) for name, value in named}


def shown_request(value: object, hide: Callable[[str], str], name: str = "") -> object:
    """Return a request, or a part of it with a name, with secrets masked as `shown_hyperparameters` does."""
    if isinstance(value, dict):
        if value.keys() == {"Key", "Value"}:  # a tag is also a name and a value
            return {"Key": value["Key"], "Value": shown_request(value["Value"], hide, str(value["Key"]))}
        return {key: shown_request(inner, hide, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        options = ["", *((option_name(word) if isinstance(word, str) else "") for word in value)]
        return [shown_request(inner, hide, option or name) for inner, option in zip(value, options, strict=False)]
    if not isinstance(value, str):
        return value
    return MASK if is_secret(name) else hide(value)


def value_redactor(values: Sequence[str]) -> Callable[[str], str]:
    """Return a function that masks values that are secrets whatever their names are."""
    return lambda text: masked_text(text, values)


def _decoded(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
