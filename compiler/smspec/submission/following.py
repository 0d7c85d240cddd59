"""Follow a training job to its end: its status, the lines of its log as they arrive, and the metrics in them.

The streams of all hosts are merged by time. SageMaker finds a metric as `LogMetrics` does: the first group of a regex.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from smspec.service.metric_pattern import OutOfTime, searchable_metrics, time_limit
from smspec.submission.client import AccessDenied, AwsUnavailable, JobRefused
from smspec.submission.job_service import JobService, host_of
from smspec.submission.training_job import LogEvent, TrainingJob, Transition

_MOST_EMPTY_PAGES = 200
"""In a row. The end of a stream is a page with the token of the one before; pages before it can be empty."""

_MOST_EQUAL_PAGES = 1_000
"""In a row: millions of lines at AWS, all of one millisecond. More of them come from a server that ignores tokens."""

_LONGEST_PERIOD = 16
"""Pages that such a server may repeat."""

_LONGEST_LINE = 4096
"""Characters of a line that are searched: a regex of an author may take long on a longer one."""

_SECONDS = 1.0
"""Processor time for each metric: one that takes longer is not shown any more."""

INTERVAL_SECONDS = 5.0
"""Between two looks at a job. CloudWatch Logs allows 10 or 25 reads per second, per account and region."""

_STREAMS_PER_SECOND = 4
_MOST_MISSING = 4
"""Looks in a row that do not find a job that exists."""

_QUIET_ROUNDS = 2
"""Rounds without a new line after which the log of a job that is over is complete."""


@dataclass(slots=True)
class _Stream:
    """``page``: events that were not yet yielded; ``token``: where the next page begins; ``last``: the page before it.

    ``seen``: hashes of the pages before; ``equal``: the pages in a row that are among them; ``is_read``: up to its
    present end.
    """

    page: deque[LogEvent] = field(default_factory=deque)
    token: str | None = None
    last: tuple[LogEvent, ...] = ()
    seen: deque[int] = field(default_factory=lambda: deque(maxlen=_LONGEST_PERIOD))
    equal: int = 0
    is_read: bool = False


class JobLog:
    """Reads each stream from where it was left, so that no line is missing, and none comes twice, whatever fails.

    ``host``: only this host; ``since``: only events from this time, in milliseconds since 1970; ``tail``: of each
    host, of its streams that exist at first, only so many events, the last ones. ``budget``: seconds of pauses while
    AWS throttles a call; the default is for `follow`, which repeats the calls itself.
    """

    def __init__(
        self,
        service: JobService,
        name: str,
        *,
        host: str | None = None,
        since: int | None = None,
        tail: int | None = None,
        budget: float = 0,
    ) -> None:
        self._service = service
        self._name = name
        self._host = host
        self._since = since
        self._tail = tail
        self._budget = budget
        self._streams: dict[str, _Stream] = {}

    @property
    def is_part(self) -> bool:
        """Whether only a part of the log is read; to be asked before it is."""
        return self._host is not None or self._since is not None or self._tail is not None

    @property
    def hosts(self) -> list[str]:
        """The hosts whose streams are known."""
        return sorted({host_of(name) for name in self._streams})

    def new_events(self) -> Iterator[LogEvent]:
        """Yield what has been logged since the last call, oldest first. Raise `JobRefused` or `AwsUnavailable`.

        Only a page of each stream is in memory. Events of a host may arrive late: across calls, order holds per host.
        """
        for name in self._service.streams(self._name, budget=self._budget):
            if self._host in (None, host_of(name)):
                self._streams.setdefault(name, _Stream())
        for stream in self._streams.values():
            stream.is_read = False
        if self._tail is not None:
            self._begin_at_tail(self._tail)
            self._tail = None
        heads = [(self._streams[name].page[0].time, name) for name in self._streams if self._has_more(name)]
        heapq.heapify(heads)
        while heads:
            _, name = heads[0]
            stream = self._streams[name]
            yield stream.page.popleft()
            if self._has_more(name):
                heapq.heapreplace(heads, (stream.page[0].time, name))
            else:
                heapq.heappop(heads)

    def _has_more(self, name: str) -> bool:
        """Return whether a stream has events to yield; read its next pages if it needs to."""
        stream = self._streams[name]
        for _ in range(_MOST_EMPTY_PAGES):
            if stream.page or stream.is_read:
                return bool(stream.page)
            found, token, _ = self._service.events(name, stream.token, self._since, budget=self._budget)
            events = tuple(found)
            stream.is_read = token in (None, stream.token)
            # A server without pages sends all events again. After a new token, equal events are new lines.
            repeats = stream.is_read and events[: len(stream.last)] == stream.last
            stream.page.extend(events[len(stream.last) :] if repeats else events)
            if events:
                stream.equal = stream.equal + 1 if hash(events) in stream.seen else 0
                stream.seen.append(hash(events))
            stream.token, stream.last = token or stream.token, events or stream.last
            if stream.equal >= _MOST_EQUAL_PAGES:
                stream.equal = 0  # `follow` asks again
                raise AwsUnavailable(
                    f"CloudWatch Logs returned {_MOST_EQUAL_PAGES} pages of `{name}` more than once, and no other"
                )
        raise _endless(name)

    def _begin_at_tail(self, count: int) -> None:
        """Put each stream at its present end, with the last events of its host: those of its newest streams."""
        found: dict[str, _Stream] = {}
        left: dict[str, int] = {}
        for name in sorted(self._streams, key=_age, reverse=True):
            host = host_of(name)
            found[name] = self._last(name, left.setdefault(host, count))
            left[host] -= len(found[name].page)
        self._streams = {name: found[name] for name in self._streams}  # only now: a call may have failed

    def _last(self, name: str, count: int) -> _Stream:
        """Return a stream at its present end, with the last events to yield; read its pages from the end."""
        stream, token, empty = _Stream(is_read=True), None, 0
        while empty < _MOST_EMPTY_PAGES:
            missing = count - len(stream.page)
            found, after, before = self._service.events(
                name, token, self._since, last=max(missing, 1), budget=self._budget
            )
            if token is None:
                stream.token, stream.last = after, tuple(found)
            elif token == before:
                return stream  # at its beginning, where a server without pages sends all events again
            stream.page.extendleft(reversed(found[-missing:] if missing else ()))
            if before is None or len(stream.page) == count:
                return stream
            token, empty = before, 0 if found else empty + 1
        raise _endless(name)


def _age(stream: str) -> tuple[int, str]:
    """Return what orders the streams of a host: ``JOB/algo-1-1700000000`` ends with the time of its start."""
    number = stream.rpartition("-")[2]
    return (int(number) if number.isdecimal() and len(number) < 20 else 0, stream)


def _endless(name: str) -> AwsUnavailable:
    return AwsUnavailable(
        f"CloudWatch Logs returned {_MOST_EMPTY_PAGES} pages without new lines of `{name}`, and never its end"
    )


class LogMetrics:
    """The last value of each metric of a job, by name; it keeps the order of the spec."""

    def __init__(self, job: TrainingJob, seconds: float = _SECONDS) -> None:
        self._patterns = dict(
            searchable_metrics(job.answer.get("AlgorithmSpecification", {}).get("MetricDefinitions", ()))
        )
        self._left = dict.fromkeys(self._patterns, seconds)
        self.values: dict[str, str] = {}

    def take(self, event: LogEvent) -> None:
        """Search a line."""
        for name, pattern in self._patterns.items():
            if self._left[name] <= 0:
                continue
            start = time.process_time()
            try:
                with time_limit(self._left[name]):
                    found = pattern.search(event.text[:_LONGEST_LINE])
            except OutOfTime:
                self._left[name] = 0
                continue
            self._left[name] -= _overrun(time.process_time() - start)
            if found and found[1]:
                self.values[name] = found[1]

    def __str__(self) -> str:
        return ", ".join(f"{name} {self.values[name]}" for name in self._patterns if name in self.values)


def _overrun(seconds: float) -> float:
    """Return the time that counts: a job may log for weeks, and an ordinary search takes microseconds."""
    return seconds if seconds > 0.01 else 0.0


@dataclass(frozen=True, slots=True)
class Trouble:
    """AWS cannot be asked now. ``since``: seconds since the first call that failed."""

    text: str
    since: float


@dataclass(frozen=True, slots=True)
class Recovered:
    """AWS answers again."""


Happening = Transition | LogEvent | TrainingJob | Trouble | Recovered
"""A `TrainingJob` comes after each look at the job; the last one is over."""


def follow(
    service: JobService,
    log: JobLog,
    name: str,
    *,
    interval: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Happening]:
    """Yield what happens to a job, until it is over and its log is complete.

    Raise `JobRefused` if it does not exist in a few looks in a row, and `AccessDenied`. Any other failure is a
    `Trouble`: credentials that have expired, or a connection that broke, do not concern the job. They are tried again
    with the credentials of a new login, until the caller gives up.
    """
    pause = INTERVAL_SECONDS if interval is None else interval
    seen: set[Transition] = set()
    failing: float | None = None
    quiet = missing = 0
    while True:
        lines = 0
        try:
            if failing is not None:
                service.renew()
            job = service.describe(name, budget=0)  # the loop repeats it, and shows that it fails
            for transition in job.transitions:
                if transition not in seen:
                    seen.add(transition)
                    yield transition
            for event in log.new_events():
                lines += 1
                yield event
        except AccessDenied:
            raise
        except JobRefused:
            # The job is there: who follows it has created or described it. A part of SageMaker may not know it yet.
            missing += 1
            if missing >= _MOST_MISSING:
                raise
            sleep(pause)
            continue
        except AwsUnavailable as unavailable:
            failing = clock() if failing is None else failing
            yield Trouble(str(unavailable), clock() - failing)
            sleep(pause)
            continue
        missing = 0
        if failing is not None:
            failing = None
            yield Recovered()
        yield job
        quiet = quiet + 1 if job.is_over and not lines else 0
        if quiet >= _QUIET_ROUNDS:
            return
        sleep(pause if job.is_over else max(pause, len(log.hosts) / _STREAMS_PER_SECOND))
