"""A proxy on this machine in front of an endpoint of AWS: slow, with errors, and with closed connections."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from smspec.source.frozen import dataclass

Fault = Literal["error", "slow", "reset"]

LATE_SECONDS = 3.0
"""How long a slow response is delayed."""

_SLOW_DOWN = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"""
_HEAD_SIZE = 1 << 16
_READ = 1 << 16
_SECONDS = 60.0
_DRAIN_SECONDS = 2.0
_MOST = {"error": 8, "slow": 5, "reset": 8}
"""An SDK waits about a second before it repeats a request: a job with many requests must not take much longer."""

_WRITING = (b"PUT ", b"POST ", b"DELETE ")
_ORDER: tuple[Fault | None, ...] = ("error", None, "slow", None, "reset", None)
_RANGE = re.compile(rb"\r\nrange: *([^\r]*)", re.IGNORECASE)
_KEPT_OPEN = re.compile(rb"\r\n(?:connection|proxy-connection|keep-alive):[^\r]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """How many requests arrived, how many of them met which fault, and how many that would write were refused."""

    requests: int
    errors: int
    slow: int
    resets: int
    writes: int = 0

    @property
    def faults(self) -> int:
        return self.errors + self.slow + self.resets

    def __str__(self) -> str:
        kinds = {"503 SlowDown": self.errors, "slow": self.slow, "closed": self.resets}
        listed = ", ".join(f"{count} {name}" for name, count in kinds.items() if count)
        return f"{listed} of {self.requests} request{'s' if self.requests != 1 else ''}"


class FaultCourse:
    """The fault of each request, by its order. A request that failed once succeeds when it is repeated.

    ``is_down``: every request fails.
    """

    def __init__(self, *, is_down: bool) -> None:
        self._is_down = is_down
        self._seen: set[bytes] = set()
        self._counts = {"error": 0, "slow": 0, "reset": 0}
        self._requests = 0
        self._writes = 0
        self._lock = threading.Lock()

    def fault(self, request: bytes) -> Fault | None:
        """Return what happens to a request; ``request`` identifies it."""
        with self._lock:
            self._requests += 1
            found = self._chosen(request)
            if found is not None:
                self._counts[found] += 1
                self._writes += found == "error" and request.startswith(_WRITING)
            return found

    def _chosen(self, request: bytes) -> Fault | None:
        if self._is_down:
            return "error"
        if request in self._seen:
            return None
        number = len(self._seen)
        self._seen.add(request)
        chosen = _ORDER[number % len(_ORDER)]
        return None if chosen is None or self._counts[chosen] >= _MOST[chosen] else chosen

    @property
    def struck(self) -> Struck:
        with self._lock:
            counts = self._counts
            return Struck(
                requests=self._requests,
                errors=counts["error"],
                slow=counts["slow"],
                resets=counts["reset"],
                writes=self._writes,
            )


class FaultyEndpoint:
    """Listens on the loopback interface from its creation to `close`; one thread for each connection.

    ``url`` is that of the proxy. A thread ends with this process, whatever ends it.
    """

    def __init__(self, endpoint: str, course: FaultCourse) -> None:
        """``endpoint``: an ``http`` URL."""
        parts = urlsplit(endpoint)
        self._address = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._course = course
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{parts.path.rstrip('/')}"
        _started(self._listen)

    @property
    def struck(self) -> Struck:
        return self._course.struck

    def close(self) -> None:
        """Accept no more connections, and end the delays."""
        self._closed.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            _started(partial(self._serve, client))

    def _serve(self, client: socket.socket) -> None:
        """Serve one request; the client makes a new connection for the next one."""
        with client, suppress(OSError):
            client.settimeout(_SECONDS)
            head, rest = _read_head(client)
            if not head:
                return
            fault = self._course.fault(_identity(head))
            if fault == "error":
                _refuse(client)
            elif fault == "reset":
                # Without a linger, close() sends RST: "Connection reset by peer".
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                if fault == "slow":
                    self._closed.wait(LATE_SECONDS)
                self._forward(client, _KEPT_OPEN.sub(b"", head) + b"\r\nConnection: close\r\n\r\n" + rest)

    def _forward(self, client: socket.socket, request: bytes) -> None:
        with socket.create_connection(self._address, _SECONDS) as server:
            server.sendall(request)
            upload = _started(lambda: _copy(client, server))
            _copy(server, client)
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            upload.join(_SECONDS)


def _started(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, name="faulty endpoint", daemon=True)
    thread.start()
    return thread


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return the head of a request, without the empty line after it, and what came after it."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _HEAD_SIZE:
        more = client.recv(_READ)
        if not more:
            return b"", b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _identity(head: bytes) -> bytes:
    """Return what two attempts of a request have in common: method, path, and range."""
    line = head.partition(b"\r\n")[0]
    found = _RANGE.search(head)
    return line + (b" " + found[1] if found else b"")


def _refuse(client: socket.socket) -> None:
    """Answer with 503, and read what the client still sends: closing at once would lose the response."""
    client.sendall(
        b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(_SLOW_DOWN), _SLOW_DOWN)
    )
    client.shutdown(socket.SHUT_WR)
    client.settimeout(_DRAIN_SECONDS)
    while client.recv(_READ):
        pass


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_READ):
            target.sendall(data)
