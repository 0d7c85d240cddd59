"""Download a URL: follow a few redirects, and keep credentials from every other host."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult

from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.exchange import Request, Response, exchanged
from smspec.wire.fault import BadResponse, ConnectionBroken
from smspec.wire.url import followed, parsed, place

MOST_REDIRECTS = 5
PAUSES = (0.1, 0.4)
"""Seconds before a failed request, or one to a busy server, is sent again."""

_BUSY = (500, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_AUTHORIZATION = "authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A response, and the URL that it came from."""

    url: SplitResult
    response: Response


def fetched(
    connections: Connections, url: str, headers: Mapping[str, str], *, deadline: Deadline, size: int
) -> Fetched:
    """Download a URL, following redirects. Raise `WireFault`.

    A redirect to a different scheme, host, or port gets no Authorization header, nor does any after it.
    """
    there = parsed(url)
    for _ in range(MOST_REDIRECTS + 1):
        request = Request(url=there, headers={"Accept-Encoding": "identity", **headers})
        response = _persistently(connections, request, deadline, size)
        if response.status not in _REDIRECTS:
            return Fetched(url=there, response=response)
        before, there = there, followed(there, response.header("location"))
        if place(before) != place(there):
            headers = {name: value for name, value in headers.items() if name.lower() != _AUTHORIZATION}
    raise BadResponse(f"it redirects more than {MOST_REDIRECTS} times")


def _persistently(connections: Connections, request: Request, deadline: Deadline, size: int) -> Response:
    for pause in PAUSES:
        try:
            response = exchanged(connections, request, deadline, size)
            if response.status not in _BUSY:
                return response
        except ConnectionBroken:
            pass
        time.sleep(min(pause, deadline.left()))
    return exchanged(connections, request, deadline, size)
