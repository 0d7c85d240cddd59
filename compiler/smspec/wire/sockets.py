"""Sockets that keep a deadline and count bytes: every wait is for what is left of the whole response's time.

A timeout of a socket limits one wait only, so a server that sends a byte a second would never run into it.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from smspec.diagnostics.external_messages import continued, reason
from smspec.wire.deadline import Deadline
from smspec.wire.fault import BadResponse, ConnectionBroken

_CONNECT_SECONDS = 10.0
_MOST_ADDRESSES = 8
_HEADERS = 256 << 10


class Allowance:
    """What one response may take: the time of a deadline, and so many bytes for its body."""

    def __init__(self, deadline: Deadline, size: int) -> None:
        self.deadline = deadline
        self.size = size
        self._left = size + _HEADERS

    def took(self, count: int) -> None:
        """Count bytes. Raises `BadResponse` when there are too many."""
        self._left -= count
        if self._left < 0:
            raise self.too_large()
        self.deadline.received(count)

    def too_large(self) -> BadResponse:
        """Return the fault of a response that is larger than it may be."""
        return BadResponse(f"the response is larger than {self.size:,} bytes")


ALLOWANCE: ContextVar[Allowance] = ContextVar("allowance")
"""Of the response that this thread waits for: sockets are kept and used again, their deadlines are not."""

if TYPE_CHECKING:
    _Base = socket.socket
else:
    _Base = object


class _Timed(_Base):
    """Mixed into a class of sockets."""

    def recv_into(self, *words: Any, **options: Any) -> int:
        allowance = ALLOWANCE.get()
        self.settimeout(allowance.deadline.left())
        try:
            count = super().recv_into(*words, **options)
        except TimeoutError:
            raise allowance.deadline.missed() from None
        allowance.took(count)
        return count

    def sendall(self, *words: Any, **options: Any) -> None:
        deadline = ALLOWANCE.get().deadline
        self.settimeout(deadline.left())
        try:
            super().sendall(*words, **options)
        except TimeoutError:
            raise deadline.missed() from None


class TimedSocket(_Timed, socket.socket):
    """A socket of plain HTTP, or beneath TLS."""


class TimedTls(_Timed, ssl.SSLSocket):
    """A socket of TLS; `SSLContext.sslsocket_class` makes them."""


def connected(host: str, port: int, options: Iterable[tuple[int, int, int | bytes]]) -> socket.socket:
    """Return a socket connected to one of a host's addresses. Raises `ConnectionBroken` or `DeadlineMissed`."""
    deadline = ALLOWANCE.get().deadline
    place = f"{host}:{port}"
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as fault:
        why = reason(fault) if isinstance(fault, OSError) else continued(str(fault))
        raise ConnectionBroken(f"cannot resolve `{host}`: {why}") from None
    last = "it has no address"
    for family, kind, protocol, _, address in addresses[:_MOST_ADDRESSES]:
        try:
            with ExitStack() as undo:
                attempt = undo.enter_context(TimedSocket(family, kind, protocol))
                for option in options:
                    attempt.setsockopt(*option)
                attempt.settimeout(min(deadline.left(), _CONNECT_SECONDS))
                attempt.connect(address)
                attempt.settimeout(deadline.left())  # what a TLS handshake may take
                undo.pop_all()
                return attempt
        except OSError as fault:
            last = reason(fault)
    raise ConnectionBroken(f"cannot connect to `{place}`: {last}")
