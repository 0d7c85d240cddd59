"""What the regular expressions of the metrics find in the logs of a finished run.

SageMaker searches each line of the log. An expression may take forever on some line, so all of them together have a
limit of time; a line is read in parts, so a log of any size takes the same memory. Where an expression begins with
letters, only lines that contain them are searched: most lines of a log have no metric.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence

from smspec.local.running.training_request import TrainingRequest
from smspec.local.watch.host_log import LogText, split_bars
from smspec.source.frozen import dataclass

SECONDS = 5.0
"""Processor time for all expressions over all logs."""

_LONGEST_LINE = 1 << 16
_BLOCK = 1 << 20
_LONGEST_SHOWN = 40
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_SIGN = re.compile(r"(?:^|[\s=:(\[,])-\Z")
_LITERAL = re.compile(r"(?:\^|\.\*\??)*((?:[\w =:,;/'\"#%@!~<>&-]|\\[^\w\s])+)")
_NOT_LITERAL = re.compile(r"\||\(\?[a-zA-OQ-Z-]")
"""Alternatives, of which a line may contain any, and flags."""


MOST_VALUES = 500
"""Values that are kept of a metric and host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValues:
    """Values of one metric in the log of a host, in order: of ``count`` each ``every``-th one, and the last one.

    None: not a finite number.
    """

    metric: str
    host: str
    count: int
    every: int
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCount:
    """``matches`` of one metric, ``last`` the text of its last value; ``numbers``: how many of these are numbers.

    ``cut``: a value that is longer in the log, as (what the expression takes, what is there). ``is_whole`` False: the
    time was over before the end of the logs. ``values``: one per host with any. ``range``: the texts of the lowest and
    the highest finite value, if there are any.
    """

    name: str
    matches: int
    numbers: int
    last: str | None
    cut: tuple[str, str] | None
    is_whole: bool = True
    values: tuple[MetricValues, ...] = ()
    range: tuple[str, str] | None = None

    def __str__(self) -> str:
        count = f"{self.matches:,} values" if self.matches != 1 else "1 value"
        found = f"{count}, the last is {self.last}" if self.matches else "no values"
        if self.range is not None and self.matches > 2:  # of two values, the last one says enough
            found += f" (lowest {self.range[0]}, highest {self.range[1]})"
        return f"{self.name}: {found}" + ("" if self.is_whole else " (search stopped: it took too long)")

    @property
    def warning(self) -> str:
        """What is wrong with the metric; empty for nothing."""
        if self.matches == 0:
            return f"no line of the log matches the regex of metric `{self.name}`" if self.is_whole else ""
        if self.cut is not None:
            return f"metric `{self.name}` reads `{self.cut[0]}` where the log has `{self.cut[1]}`: extend its group"
        if self.numbers == 0:
            return f"metric `{self.name}` reads `{self.last}`, which is not a number"
        return ""


class _Kept:
    """Some of many values, evenly spaced."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._every = 1
        self._count = 0
        self._last = ""

    def add(self, value: str) -> None:
        if self._count % self._every == 0:
            if len(self._kept) == MOST_VALUES:
                self._kept = self._kept[::2]
                self._every *= 2
            if self._count % self._every == 0:
                self._kept.append(value)
        self._count += 1
        self._last = value

    def values(self, metric: str, host: str, hide: Callable[[str], str]) -> MetricValues:
        is_last_kept = (self._count - 1) % self._every == 0
        texts = self._kept if is_last_kept else [*self._kept, self._last]
        values = tuple(_finite(text, hide) for text in texts)
        return MetricValues(metric=metric, host=host, count=self._count, every=self._every, values=values)


class _Counter:
    def __init__(self, name: str, pattern: re.Pattern[str], hide: Callable[[str], str]) -> None:
        self.name = name
        self._pattern = pattern
        self._hide = hide
        self._literal = literal_in(pattern.pattern)
        self._matches = self._numbers = 0
        self._last: str | None = None
        self._cut: tuple[str, str] | None = None
        self._range: tuple[tuple[float, str], tuple[float, str]] | None = None
        self._kept: dict[str, _Kept] = {}

    def search(self, host: str, lines: Sequence[str]) -> None:
        for line in lines:
            if self._literal in line:
                self._search(host, line)

    def _search(self, host: str, line: str) -> None:
        for match in self._pattern.finditer(line):
            value = match[1]
            if value is None:
                continue
            self._matches += 1
            self._last = value
            self._kept.setdefault(host, _Kept()).add(value[:_LONGEST_SHOWN])
            number = _number(value)
            if number is None:
                continue
            self._numbers += 1
            if math.isfinite(number):
                low, high = self._range or ((number, value), (number, value))
                self._range = min(low, (number, value)), max(high, (number, value))
            if self._cut is None:
                self._cut = _cut(line, match.start(1), value)

    def _shown(self, text: str) -> str:
        return self._hide(text)[:_LONGEST_SHOWN]

    def counted(self, *, is_whole: bool) -> MetricCount:
        return MetricCount(
            name=self.name,
            matches=self._matches,
            numbers=self._numbers,
            last=None if self._last is None else self._shown(self._last),
            range=None if self._range is None else (self._shown(self._range[0][1]), self._shown(self._range[1][1])),
            cut=None if self._cut is None else (self._shown(self._cut[0]), self._shown(self._cut[1])),
            is_whole=is_whole,
            values=tuple(kept.values(self.name, host, self._hide) for host, kept in self._kept.items()),
        )


def count_metrics(
    request: TrainingRequest, logs: Sequence[str], hide: Callable[[str], str], seconds: float = SECONDS
) -> tuple[MetricCount, ...]:
    """Return what each metric finds in the logs at these paths; those that this Python cannot search are left out.

    Raise OSError.
    """
    if not request.metric_definitions:
        return ()
    from smspec.service.metric_pattern import OutOfTime, searchable_metrics, time_limit  # imported late: few have any

    counters = [_Counter(name, pattern, hide) for name, pattern in searchable_metrics(request.metric_definitions)]
    if not counters:
        return ()
    is_whole = True
    try:
        with time_limit(seconds):
            for path in logs:
                host = os.path.basename(path).removesuffix(".log")
                for lines in _lines(path):
                    for counter in counters:
                        counter.search(host, lines)
    except OutOfTime:
        is_whole = False
    return tuple(counter.counted(is_whole=is_whole) for counter in counters)


def literal_in(pattern: str) -> str:
    """Return letters that every match of an expression contains, or none."""
    found = _LITERAL.match(pattern)
    if found is None or _NOT_LITERAL.search(pattern):
        return ""
    is_repeated = pattern[found.end() : found.end() + 1] in ("*", "?", "{")
    text = re.sub(r"\\(.)", r"\1", found[1])
    return text[:-1] if is_repeated else text


def _lines(path: str) -> Iterator[list[str]]:
    """Yield the lines of a log in blocks; a long line is several."""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            text = LogText(block[: max(0, block.rfind(b"\n"))])
            if text.plain and max(map(len, text.data.split(b"\n"))) < _LONGEST_LINE:
                file.seek(len(text.data) + 1 - len(block), os.SEEK_CUR)
                yield text.lines
                continue
            file.seek(-len(block), os.SEEK_CUR)
            end = file.tell() + len(block)
            while file.tell() < end and (line := file.readline(_LONGEST_LINE)):
                yield _states(line)


def _states(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    start = text.rfind("\r") + 1
    # What follows a bar of stderr is of stdout, which has its own lines in the log of SageMaker.
    first, *behind = split_bars(text[start:])
    return [text[:start] + first, *behind]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _finite(text: str, hide: Callable[[str], str]) -> float | None:
    value = _number(text) if hide(text) == text else None
    return value if value is not None and math.isfinite(value) else None


def _cut(line: str, start: int, value: str) -> tuple[str, str] | None:
    """Return a number of the log of which the group takes only a part: `1e-05` read as `1`, `-0.5` read as `0.5`."""
    start -= 1 if value[0] not in "+-" and _SIGN.search(line[max(0, start - 2) : start]) else 0
    there = _NUMBER.match(line, start)
    if there is None or len(there[0]) <= len(value) or float(there[0]) == float(value):
        return None
    return value, there[0]
