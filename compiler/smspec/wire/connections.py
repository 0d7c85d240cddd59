"""Pooled connections: urllib3's pools over sockets with a deadline, through proxies."""

from __future__ import annotations

import socket
import threading
from functools import cached_property
from ssl import SSLContext
from typing import Any
from urllib.parse import SplitResult, unquote
from urllib.request import getproxies, proxy_bypass

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager, make_headers
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from smspec.wire.fault import WireFault
from smspec.wire.sockets import connected
from smspec.wire.trust import Trust

_ANY_SCHEME = "all"


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
        self._trust = trust
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
    def _context(self) -> SSLContext:
        return self._trust.context()

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


def _proxied(proxy: str, options: dict[str, Any], context: SSLContext | None) -> ProxyManager:
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
