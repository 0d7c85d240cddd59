"""The log of one host: stdout and stderr, each split into lines, and written to its file; and its end, without secrets.

A line without an end is split, so that neither it nor a part of it needs more memory than two reads. What the runtime
masks in the failure file is masked in the summary and the report, too.
"""

from __future__ import annotations

import codecs
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from smspec.diagnostics.quoting import last_state
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
from smspec_runtime.progress_bar import split_bar

_READ = 1 << 16
_LONGEST_LINE = 1 << 16
LOG_LINES = 200
_LONGEST_SHOWN = 2000
_LONGEST_SECRET = 4096
"""Characters of a line after those that are shown: a secret that begins in these is masked as a whole."""


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

    def lines(self, descriptor: int) -> Iterator[str] | None:
        """Read what one stream has available, which may block, and return the lines that it ends; None at the end."""
        data = os.read(descriptor, _READ)
        return self._take(descriptor, data) if data else None

    def close(self) -> Iterator[str]:
        """Close everything, and yield a last line of each stream without a line feed."""
        if self._file is None:
            return
        for descriptor, rest in self._begun.items():
            os.close(descriptor)
            if rest:
                self._write(descriptor, rest)
                yield from _shown(rest)
        self.close_streams()
        self._file.close()
        self._file = None

    def _take(self, descriptor: int, data: bytes) -> Iterator[str]:
        *lines, begun = (self._begun[descriptor] + data).split(b"\n")
        self._begun[descriptor] = begun
        if lines:
            self._write(descriptor, b"\n".join([*lines, b""]))
        for line in lines:
            yield from _shown(line)
        if len(begun) > _LONGEST_LINE:
            _, used = codecs.utf_8_decode(begun, "replace", False)  # a character may be incomplete
            self._begun[descriptor] = begun[used:]
            self._write(descriptor, begun[:used])
            yield from _shown(begun[:used])

    def _write(self, descriptor: int, data: bytes) -> None:
        if self._file is None:
            return
        if self._unended not in (None, descriptor):
            self._file.write(b"\n")
        self._file.write(data)
        self._file.flush()
        self._unended = None if data.endswith(b"\n") else descriptor


def _shown(line: bytes) -> Iterator[str]:
    """Decode a line and yield what a terminal would show, its `last_state`.

    A progress bar does not end its line: what is printed next stands behind it, and is a line.
    """
    yield from split_bar(last_state(line.decode("utf-8", "replace")))


class LogTail:
    """The last lines of a host's log. ``hide`` masks secrets in a text."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._count = 0

    def add(self, line: str) -> None:
        # Masked at the end, when most lines are gone: the search takes a microsecond for each character.
        self._count += 1
        self._lines.append(line[: _LONGEST_SHOWN + _LONGEST_SECRET])

    @property
    def text(self) -> str:
        # Mask a secret before it may be truncated.
        lines = (self._hide(line)[:_LONGEST_SHOWN] if len(line) > _LONGEST_SHOWN else line for line in self._lines)
        return self._hide("\n".join(lines))

    @property
    def left_out(self) -> int:
        """The number of lines before these."""
        return self._count - len(self._lines)


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


def value_redactor(values: Sequence[str]) -> Callable[[str], str]:
    """Return a function that masks values that are secrets whatever their names are."""
    return lambda text: masked_text(text, values)


def _decoded(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
