"""Sockets that keep a deadline and count bytes: every wait is limited by the remaining time of the whole response.

A timeout of a socket limits only one wait, so a server that sends a byte per second would never reach it.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from smspec.diagnostics.quoting import continued, system_reason
from smspec.wire.deadline import Deadline
from smspec.wire.fault import ConnectionBroken, TooLarge

_CONNECT_SECONDS = 10.0
_MOST_ADDRESSES = 8
_HEADERS = 256 << 10


class Allowance:
    """The limits of one response: the time of a deadline, and the bytes of its body."""

    def __init__(self, deadline: Deadline, size: int) -> None:
        self.deadline = deadline
        self.size = size
        self._left = size + _HEADERS

    def took(self, count: int) -> None:
        """Count bytes. Raise `BadResponse` if there are too many."""
        self._left -= count
        if self._left < 0:
            raise self.too_large()
        self.deadline.received(count)

    def too_large(self) -> TooLarge:
        """Return the exception for a response above its size limit."""
        return TooLarge(f"the response is larger than {self.size:,} bytes")


ALLOWANCE: ContextVar[Allowance] = ContextVar("allowance")
"""Of the response that this thread waits for: sockets are reused, their deadlines are not."""

if TYPE_CHECKING:
    _Base = socket.socket
else:
    _Base = object


class _Timed(_Base):
    """A mix-in for a class of sockets."""

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
    """A TLS socket; `SSLContext.sslsocket_class` creates them."""


def connected(host: str, port: int, options: Iterable[tuple[int, int, int | bytes]]) -> socket.socket:
    """Return a socket connected to one of a host's addresses. Raise `ConnectionBroken` or `DeadlineMissed`."""
    deadline = ALLOWANCE.get().deadline
    place = f"{host}:{port}"
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as fault:
        why = system_reason(fault) if isinstance(fault, OSError) else continued(str(fault))
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
                attempt.settimeout(deadline.left())  # the limit for a TLS handshake
                undo.pop_all()
                return attempt
        except OSError as fault:
            last = system_reason(fault)
    raise ConnectionBroken(f"cannot connect to `{place}`: {last}")
