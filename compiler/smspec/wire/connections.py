"""Pooled connections: urllib3's pools over sockets with a deadline, through proxies, with the trusted certificates.

The sockets keep a deadline and count bytes: every wait is limited by the remaining time of the whole response. Trusted
are the certificates of this machine, or of the file that the user sets.
"""

from __future__ import annotations

import os
import socket
import ssl
import stat
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote
from urllib.request import getproxies, proxy_bypass

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager, make_headers
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from smspec.diagnostics.quoting import continued, system_reason
from smspec.wire.fault import ConnectionBroken, Deadline, TooLarge, WireFault

if TYPE_CHECKING:
    _Base = socket.socket
else:
    _Base = object


VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Files or directories of certificates; OpenSSL itself honors SSL_CERT_FILE and SSL_CERT_DIR."""

_OF_OPENSSL = "SSL_CERT_FILE"


_LARGEST_FILE = 16 << 20
"""Bytes of a file that a variable names: bundles of certificates have less than one million."""

_CONNECT_SECONDS = 10.0
_MOST_ADDRESSES = 8
_HEADERS = 256 << 10

_ANY_SCHEME = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """``named``: the only trusted certificates, and the variable that sets them.

    ``added``: files besides the machine's.
    """

    named: tuple[str, str] | None = None
    added: tuple[str, ...] = ()

    def context(self) -> ssl.SSLContext:
        """Return the context of TLS sockets. Raise `WireFault` for certificates that cannot be read."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.sslsocket_class = TimedTls
        if self.named is None:
            require_file(os.environ.get(_OF_OPENSSL, ""), _OF_OPENSSL)
            context.load_default_certs()
            for path in self.added:
                context.load_verify_locations(path)
            return context
        path, by = self.named
        require_file(path, by)
        try:
            if os.path.isdir(path):
                context.load_verify_locations(capath=path)
            else:
                context.load_verify_locations(path)
        except OSError as fault:  # ssl.SSLError is a subclass
            why = "it holds no certificates" if isinstance(fault, ssl.SSLError) else system_reason(fault)
            raise WireFault(f"{by} is `{path}`: {why}") from None
        return context


def require_file(path: str, named_by: str) -> None:
    """Raise `WireFault` for a path whose content may never end or never begin, such as a FIFO; a missing one is not."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    if os.path.samestat(status, os.stat(os.devnull)) or stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        raise WireFault(f"{named_by} is `{path}`, which is not a regular file")
    if status.st_size > _LARGEST_FILE:
        raise WireFault(f"{named_by} is `{path}`, which has more than {_LARGEST_FILE >> 20} MiB")


def trust_of_environment(variables: Iterable[str] = VARIABLES, added: tuple[str, ...] = ()) -> Trust:
    """Return the certificates in the first of the variables that is set, or those of this machine."""
    named = next(((os.environ[name], name) for name in variables if os.environ.get(name)), None)
    return Trust(named=named, added=added)


def tls_sentence(place: str, fault: BaseException, trust: Trust) -> str:
    """Return a sentence about a TLS error of a server."""
    found = _tls_error(fault)
    if isinstance(found, ssl.SSLCertVerificationError):
        why = continued(found.verify_message or str(found))
        own = f"add it to {trust.named[1]}" if trust.named else "set REQUESTS_CA_BUNDLE"
        return f"the certificate of `{place}` is not trusted: {why}; for a CA of your own, {own}"
    why = continued((getattr(found, "reason", None) or str(found)).replace("_", " ").lower())
    return f"no TLS connection to `{place}`: {why}"


def _tls_error(fault: BaseException) -> BaseException:
    """Return the OpenSSL error that urllib3 wraps."""
    visited: list[BaseException] = []
    inner: object = fault
    while isinstance(inner, BaseException) and inner not in visited:
        if isinstance(inner, ssl.SSLError):
            return inner
        visited.append(inner)
        inner = inner.__cause__ or inner.__context__ or (inner.args[-1] if inner.args else None)
    return fault


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
    """A TLS socket; `ssl.SSLContext.sslsocket_class` creates them."""


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


class _Plain(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return connected(self._dns_host, self.port, self.socket_options or ())


class _Tls(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return connected(self._dns_host, self.port, self.socket_options or ())


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _Tls


_POOLS = {"http": _PlainPool, "https": _TlsPool}


class Connections:
    """Connections to any host, at most ``size`` kept to each. May be used by several threads."""

    def __init__(self, trust: Trust, size: int = 4) -> None:
        self.trust = trust
        self._size = size
        self._managers: dict[tuple[str, str | None], PoolManager] = {}
        self._lock = threading.Lock()

    def pool(self, url: SplitResult) -> HTTPConnectionPool:
        """Return the connections to a URL's host. Raise `WireFault`."""
        assert url.hostname is not None  # `parsed` has checked it
        proxy = _proxy(url)
        with self._lock:
            manager = self._managers.get((url.scheme, proxy)) or self._manager(url.scheme, proxy)
            self._managers[url.scheme, proxy] = manager
        return manager.connection_from_host(url.hostname, url.port, url.scheme)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self.trust.context()

    def _manager(self, scheme: str, proxy: str | None) -> PoolManager:
        options: dict[str, Any] = {"maxsize": self._size}
        if scheme == "https":
            options["ssl_context"] = self._context
        if proxy is None:
            manager = PoolManager(**options)
        else:
            manager = _proxied(proxy, options, self._context if proxy.startswith("https:") else None)
        manager.pool_classes_by_scheme = _POOLS
        return manager


def _proxied(proxy: str, options: dict[str, Any], context: ssl.SSLContext | None) -> ProxyManager:
    shown = proxy.rpartition("@")[2]
    try:
        credentials = parse_url(proxy).auth
        headers = make_headers(proxy_basic_auth=unquote(credentials)) if credentials else None
        return ProxyManager(proxy, proxy_headers=headers, proxy_ssl_context=context, **options)
    except (HTTPError, ValueError, AssertionError):
        raise WireFault(f"the proxy `{shown}` is not an http or https URL") from None


def _proxy(url: SplitResult) -> str | None:
    """Return the proxy of a URL from the environment: http_proxy, https_proxy, all_proxy, except for no_proxy."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get(_ANY_SCHEME)
    if not proxy or proxy_bypass(url.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
