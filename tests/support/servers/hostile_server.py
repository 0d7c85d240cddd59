"""A server for tests that sends arbitrary bytes, in pieces, with pauses.

It speaks through a socket: no library keeps it from sending what is not HTTP.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Asked(NamedTuple):
    """A request: ``headers`` by their names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


Piece = bytes | float | Callable[[], bytes]
"""Bytes to send, made when they are sent where they are many, or seconds to be silent."""

Answer = Callable[[Asked], Iterable[Piece]]


def response(
    body: bytes = b"", *, status: str = "200 OK", headers: dict[str, object] | None = None, length: object = None
) -> bytes:
    """Return a response; a header that is None is left out, one that is a tuple is sent several times."""
    all_headers = {
        "Content-Length": len(body) if length is None else length,
        "Connection": "close",
        **(headers or {}),
    }
    head = f"HTTP/1.1 {status}\r\n".encode("latin-1")
    for name, value in all_headers.items():
        for each in value if isinstance(value, tuple) else () if value is None else (value,):
            head += f"{name}: {each}\r\n".encode("latin-1")
    return head + b"\r\n" + body


def chunked(*chunks: bytes) -> bytes:
    """Return a body in chunks."""
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def dripped(data: bytes, seconds: float = 0.1) -> Iterator[Piece]:
    """Yield bytes one by one."""
    for byte in data:
        yield bytes([byte])
        yield seconds


class HostileServer:
    """``answer``: what is sent for a request; ``asked`` are the requests so far. One request a connection."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.answer: Answer = lambda asked: [response()]
        self.asked: list[Asked] = []
        self._context = context
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._thread = threading.Thread(target=self._serve)
        self._talks: list[threading.Thread] = []
        self._connections: list[socket.socket] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._socket.getsockname()[1]}"

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self._connections:
            # A client that does not read on, and whose socket an exception keeps open, must not keep the server.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for talk in self._talks:
            talk.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.append(connection)
            talk = threading.Thread(target=self._talk, args=(connection,))
            self._talks.append(talk)
            talk.start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ssl.SSLError), connection:
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as file:
                asked = _read(file)
                if asked is None:
                    return
                self.asked.append(asked)
                for piece in self.answer(asked):
                    if isinstance(piece, bytes):
                        connection.sendall(piece)
                    elif callable(piece):
                        connection.sendall(piece())
                    elif self._closing.wait(piece):
                        return
                _hang_up(connection)


def _hang_up(connection: socket.socket) -> None:
    """End an answer so that its client sees the end, however late it reads.

    Closing with bytes unread would reset the connection, and a client that still writes would see that instead.
    """
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(1)
    while connection.recv(65536):
        pass


def _read(file: object) -> Asked | None:
    words = file.readline().decode("latin-1").split()  # type: ignore[attr-defined]  # a file
    if len(words) != 3:
        return None
    headers = {}
    while (line := file.readline().decode("latin-1").strip()) != "":  # type: ignore[attr-defined]
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = file.read(int(headers.get("content-length", 0)))  # type: ignore[attr-defined]
    return Asked(words[0], words[1], headers, body)


@contextlib.contextmanager
def hostile_server(answer: Answer | None = None, context: ssl.SSLContext | None = None) -> Iterator[HostileServer]:
    """Run a server on a free port of this machine."""
    server = HostileServer(context)
    if answer is not None:
        server.answer = answer
    server.start()
    try:
        yield server
    finally:
        server.close()
