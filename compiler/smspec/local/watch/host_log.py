"""The log of one host: written to its file as it arrives, and split into lines; and its end, without secrets.

A line without an end is split, so that neither it nor a part of it needs more memory than two reads. What the runtime
masks in the failure file is masked in the summary and the report, too.
"""

from __future__ import annotations

import codecs
import json
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

_LONGEST_LINE = 1 << 16
LOG_LINES = 200
_LONGEST_SHOWN = 2000
_LONGEST_SECRET = 4096
"""Characters of a line after those that are shown: a secret that begins in these is masked as a whole."""


class HostLog:
    """Takes the output of a host, byte for byte."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO | None = open(path, "wb")
        self._line = b""

    def take(self, data: bytes) -> Iterator[str]:
        """Write output to the file, and yield the lines that it ends."""
        if self._file is not None:
            self._file.write(data)
            self._file.flush()
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            yield from _shown(line)
        if len(self._line) > _LONGEST_LINE:
            _, used = codecs.utf_8_decode(self._line, "replace", False)  # a character may be incomplete
            rest, self._line = self._line[:used], self._line[used:]
            yield from _shown(rest)

    def close(self) -> Iterator[str]:
        """Close the file, and yield a last line without a line feed."""
        rest, self._line = self._line, b""
        if self._file is not None:
            self._file.close()
            self._file = None
        if rest:
            yield from _shown(rest)


def _shown(line: bytes) -> Iterator[str]:
    """Decode a line and yield what a terminal would show, its `last_state`.

    A progress bar on stderr does not end its line: what another stream writes next stands behind it, and is a line.
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
