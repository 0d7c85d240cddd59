"""The log of a training job: the streams of all hosts, merged by time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from smspec.submission.aws_errors import AwsUnavailable
from smspec.submission.job_service import JobService, host_of
from smspec.submission.log_event import LogEvent

_MOST_EMPTY_PAGES = 200
"""In a row. The end of a stream is a page with the token of the one before; pages before it can be empty."""

_MOST_EQUAL_PAGES = 1_000
"""In a row: millions of lines at AWS, all of one millisecond. More of them come from a server that ignores tokens."""


@dataclass(slots=True)
class _Stream:
    """``page``: events that were not yet yielded; ``token``: where the next page begins; ``last``: the page before it.

    ``equal``: the pages in a row that equal ``last``; ``is_read``: up to its present end.
    """

    page: deque[LogEvent] = field(default_factory=deque)
    token: str | None = None
    last: tuple[LogEvent, ...] = ()
    equal: int = 0
    is_read: bool = False


class JobLog:
    """Reads each stream from where it was left, so that no line is missing, and none comes twice, whatever fails.

    ``host``: only this host; ``since``: only events from this time, in milliseconds since 1970. ``budget``:
    seconds of pauses while AWS throttles a call; the default is for `follow`, which repeats the calls itself.
    """

    def __init__(
        self,
        service: JobService,
        name: str,
        *,
        host: str | None = None,
        since: int | None = None,
        budget: float = 0,
    ) -> None:
        self._service = service
        self._name = name
        self._host = host
        self._since = since
        self._budget = budget
        self._streams: dict[str, _Stream] = {}

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
            found, token = self._service.events(name, stream.token, self._since, budget=self._budget)
            events = tuple(found)
            stream.is_read = token in (None, stream.token)
            # A server without pages sends all events again. After a new token, equal events are new lines.
            repeats = stream.is_read and events[: len(stream.last)] == stream.last
            stream.page.extend(events[len(stream.last) :] if repeats else events)
            stream.equal = stream.equal + 1 if events and events == stream.last else 0
            stream.token, stream.last = token or stream.token, events or stream.last
            if stream.equal >= _MOST_EQUAL_PAGES:
                stream.equal = 0  # `follow` asks again
                raise AwsUnavailable(
                    f"CloudWatch Logs returned {_MOST_EQUAL_PAGES} equal pages of `{name}`, and no other"
                )
        raise AwsUnavailable(
            f"CloudWatch Logs returned {_MOST_EMPTY_PAGES} pages without new lines of `{name}`, and never its end"
        )
