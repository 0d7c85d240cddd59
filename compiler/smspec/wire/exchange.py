"""One request and its complete response: framed as HTTP requires, not truncated, not decoded, within an allowance.

`fetched` downloads a URL: it follows a few redirects, and keeps credentials from every other host.
"""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urljoin, urlsplit

from urllib3 import HTTPConnectionPool
from urllib3.exceptions import HTTPError, ProtocolError, ProxyError, SSLError
from urllib3.response import BaseHTTPResponse

from smspec.diagnostics.quoting import continued, system_reason
from smspec.wire.connections import ALLOWANCE, Allowance, Connections, tls_sentence
from smspec.wire.fault import BadResponse, ConnectionBroken, Deadline, WireFault

_BLOCK = 1 << 18
_WITHOUT_BODY = (204, 304)
_VALUE = re.compile(r"[\t -~\x80-\xff]*")
_LENGTH = re.compile(r"[0-9]{1,15}")

_LOOPBACK = r"localhost|127(?:\.[0-9]{1,3}){3}|::1"
_HOST = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})|[0-9A-Fa-f:.]{2,45}"
_PRINTABLE = re.compile(r"[!-~]{1,8192}")
_PORTS = {"http": 80, "https": 443}

MOST_REDIRECTS = 5
PAUSES = (0.1, 0.4)
"""Seconds before a failed request, or one to a busy server, is sent again."""

_BUSY = (500, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_AUTHORIZATION = "authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A complete response. ``headers``: (name in lower case, value), in order."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return a header, empty if there is none. Raise `BadResponse` if several contradict each other."""
        return _only(self.headers, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request; ``url`` has been `parsed`. ``encoded``: the body may be stored compressed, and stays so.

    ``body``: in parts, with a Content-Length in the headers, or whole.
    """

    url: SplitResult
    method: str = "GET"
    headers: Mapping[str, str]
    body: bytes | str | Iterable[bytes] | None = None
    encoded: bool = False


def exchanged(connections: Connections, request: HttpRequest, deadline: Deadline, size: int) -> HttpResponse:
    """Send a request and return the response; redirects are not followed. Raise `WireFault`.

    ``size``: the maximum size of the body.
    """
    allowance = Allowance(deadline, size)
    before = ALLOWANCE.set(allowance)
    place = request.url.netloc
    try:
        return _received(connections.pool(request.url), request, allowance)
    except WireFault:
        raise
    except SSLError as fault:
        raise BadResponse(tls_sentence(place, fault, connections.trust)) from None
    except ProxyError as fault:
        raise ConnectionBroken(f"the proxy lets no request through: {_why(fault)}") from None
    except (HTTPError, http.client.HTTPException, OSError) as fault:
        raise ConnectionBroken(_why(fault)) from None
    except ValueError:  # its text contains the header, which may be a secret
        raise BadResponse("a header or the URL of the request contains a character that HTTP does not allow") from None
    finally:
        ALLOWANCE.reset(before)


def _received(pool: HTTPConnectionPool, request: HttpRequest, allowance: Allowance) -> HttpResponse:
    raw = pool.urlopen(
        request.method,
        _target(pool, request.url),
        body=request.body,
        headers=dict(request.headers),
        retries=False,
        redirect=False,
        assert_same_host=False,
        preload_content=False,
        decode_content=False,
        enforce_content_length=True,
    )
    is_whole = False
    try:
        headers = _headers(raw)
        expected = _length(headers, raw, request, allowance)
        body = _body(raw, expected)
        if expected is not None and len(body) != expected:
            raise ConnectionBroken(f"the response ends after {len(body):,} of {expected:,} bytes")
        is_whole = True
    finally:
        # Data left in a failed connection do not belong to a later response.
        raw.release_conn() if is_whole else raw.close()
    return HttpResponse(status=raw.status, reason=_reason(raw), headers=headers, body=body)


def _target(pool: HTTPConnectionPool, url: SplitResult) -> str:
    """Return the target of the request line, byte for byte: what is signed must not be normalized."""
    if pool.proxy is not None and url.scheme == "http":
        return url.geturl()
    path = url.path or "/"
    return f"{path}?{url.query}" if url.query else path


def _body(raw: BaseHTTPResponse, expected: int | None) -> bytes:
    if expected is not None:
        return raw.read(decode_content=False) if expected else b""
    try:
        # A chunk may claim to have a terabyte, and reading all of it would allocate that at once.
        return b"".join(iter(lambda: raw.read(_BLOCK, decode_content=False), b""))
    except (ValueError, OverflowError):  # a chunk may claim to have a negative size
        raise BadResponse("the response is not well-formed HTTP") from None


def _headers(raw: BaseHTTPResponse) -> tuple[tuple[str, str], ...]:
    headers = tuple((str(name).lower(), str(value).strip()) for name, value in raw.headers.items())
    if not 100 <= raw.status <= 599 or not all(_VALUE.fullmatch(name + value) for name, value in headers):
        raise BadResponse("the response has a malformed head")
    return headers


def _length(
    headers: tuple[tuple[str, str], ...], raw: BaseHTTPResponse, request: HttpRequest, allowance: Allowance
) -> int | None:
    """Return the length of the body; None if it is chunked. Raise `BadResponse`."""
    if request.method == "HEAD" or raw.status in _WITHOUT_BODY:
        return 0
    encoding = _only(headers, "content-encoding").lower()
    if encoding not in ("", "identity") and not request.encoded:
        raise BadResponse(f"the response is compressed (`{encoding[:40]}`), though smspec did not ask for that")
    length, transfer = _only(headers, "content-length"), _only(headers, "transfer-encoding").lower()
    if transfer == "chunked" and not length:
        return None
    if transfer or not _LENGTH.fullmatch(length):
        raise BadResponse("the response does not state its length")
    if int(length) > allowance.size:
        raise allowance.too_large()
    return int(length)


def _only(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the only value of a header. urllib3 has one for each of several lines."""
    values = {value for each, value in headers if each == name}
    if len(values) > 1:
        raise BadResponse(f"the response has contradictory headers `{name}`")
    return values.pop() if values else ""


def _reason(raw: BaseHTTPResponse) -> str:
    return " ".join(re.findall(r"[!-~]+", raw.reason or ""))[:60]


def _why(fault: BaseException) -> str:
    """Return the underlying error that urllib3 wraps."""
    inner = fault
    while isinstance(inner, (ProtocolError, ProxyError)) and inner.args and isinstance(inner.args[-1], BaseException):
        inner = inner.args[-1]
    if isinstance(inner, http.client.IncompleteRead):
        partial: object = inner.partial  # urllib3 has a number here
        size = partial if isinstance(partial, int) else len(inner.partial)
        rest = f" of {size + inner.expected:,}" if isinstance(inner.expected, int) else ""
        return f"the response ends after {size:,}{rest} bytes"
    if isinstance(inner, http.client.RemoteDisconnected):
        return "the server closes the connection without a response"
    if isinstance(inner, (http.client.BadStatusLine, http.client.UnknownProtocol)):
        return "the response is not HTTP"
    if isinstance(inner, (http.client.LineTooLong, http.client.HTTPException)):
        return "the response is not well-formed HTTP"
    if isinstance(inner, OSError):
        return system_reason(inner)[:200]
    return (continued(str(inner)) or type(inner).__name__)[:200]


def parsed(url: str) -> SplitResult:
    """Parse a URL. Raise `BadResponse` for one that a request cannot be sent to safely."""
    try:
        parts = urlsplit(url)
        is_whole = _PRINTABLE.fullmatch(url) and parts.scheme in _PORTS and "@" not in parts.netloc
        is_whole = is_whole and re.fullmatch(_HOST, parts.hostname or "") and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise BadResponse(f"`{shown_url(url)[:80]}` is not a URL that smspec can follow")
    return parts


def shown_url(url: str) -> str:
    """Return a URL as it is shown: without a password, and without its query, which may sign a link."""
    return (
        re.sub(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?.*@", r"\1", url, flags=re.DOTALL)
        .partition("?")[0]
        .partition("#")[0]
    )


def place(url: SplitResult) -> tuple[str, str, int]:
    """Return scheme, host, and port: the receiver of a request."""
    return url.scheme, (url.hostname or "").lower(), url.port or _PORTS[url.scheme]


def is_loopback(url: SplitResult) -> bool:
    """Return whether a URL leads to this machine."""
    return re.fullmatch(_LOOPBACK, url.hostname or "", re.IGNORECASE) is not None


def followed(url: SplitResult, location: str) -> SplitResult:
    """Return the redirect target of ``url``: over https anywhere, without it only on this machine.

    Raise `BadResponse`.
    """
    if not _PRINTABLE.fullmatch(location):
        raise BadResponse("it redirects to something that is not a URL")
    try:
        joined = urljoin(url.geturl(), location)
    except ValueError:
        raise BadResponse("it redirects to something that is not a URL") from None
    there = parsed(joined)._replace(fragment="")
    if there.scheme == "https" or (url.scheme == "http" and is_loopback(url) and is_loopback(there)):
        return there
    raise BadResponse(f"it redirects to `{there.scheme}://{there.netloc}`, without encryption")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A response, and the URL that it came from."""

    url: SplitResult
    response: HttpResponse


def fetched(
    connections: Connections, url: str, headers: Mapping[str, str], *, deadline: Deadline, size: int
) -> Fetched:
    """Download a URL, following redirects. Raise `WireFault`.

    A redirect to a different scheme, host, or port gets no Authorization header, nor does any after it.
    """
    there = parsed(url)
    for _ in range(MOST_REDIRECTS + 1):
        request = HttpRequest(url=there, headers={"Accept-Encoding": "identity", **headers})
        response = _persistently(connections, request, deadline, size)
        if response.status not in _REDIRECTS:
            return Fetched(url=there, response=response)
        before, there = there, followed(there, response.header("location"))
        if place(before) != place(there):
            headers = {name: value for name, value in headers.items() if name.lower() != _AUTHORIZATION}
    raise BadResponse(f"it redirects more than {MOST_REDIRECTS} times")


def _persistently(connections: Connections, request: HttpRequest, deadline: Deadline, size: int) -> HttpResponse:
    for pause in PAUSES:
        try:
            response = exchanged(connections, request, deadline, size)
            if response.status not in _BUSY:
                return response
        except ConnectionBroken:
            pass
        time.sleep(min(pause, deadline.left()))
    return exchanged(connections, request, deadline, size)
