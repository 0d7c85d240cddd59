"""One request and its complete response: framed as HTTP requires, not truncated, not decoded, within an allowance."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult

from urllib3 import HTTPConnectionPool
from urllib3.exceptions import HTTPError, ProtocolError, ProxyError, SSLError
from urllib3.response import BaseHTTPResponse

from smspec.diagnostics.quoting import continued, system_reason
from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.fault import BadResponse, ConnectionBroken, WireFault
from smspec.wire.sockets import ALLOWANCE, Allowance
from smspec.wire.trust import tls_sentence

_BLOCK = 1 << 18
_WITHOUT_BODY = (204, 304)
_VALUE = re.compile(r"[\t -~\x80-\xff]*")
_LENGTH = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A complete response. ``headers``: (name in lower case, value), in order."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return a header, empty if there is none. Raise `BadResponse` if several contradict each other."""
        return _only(self.headers, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request; ``url`` has been `parsed`. ``encoded``: the body may be stored compressed, and stays so.

    ``body``: in parts, with a Content-Length in the headers, or whole.
    """

    url: SplitResult
    method: str = "GET"
    headers: Mapping[str, str]
    body: bytes | str | Iterable[bytes] | None = None
    encoded: bool = False


def exchanged(connections: Connections, request: Request, deadline: Deadline, size: int) -> Response:
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
        raise BadResponse(tls_sentence(place, fault)) from None
    except ProxyError as fault:
        raise ConnectionBroken(f"the proxy lets no request through: {_why(fault)}") from None
    except (HTTPError, http.client.HTTPException, OSError) as fault:
        raise ConnectionBroken(_why(fault)) from None
    except ValueError:  # its text contains the header, which may be a secret
        raise BadResponse("a header or the URL of the request contains a character that HTTP does not allow") from None
    finally:
        ALLOWANCE.reset(before)


def _received(pool: HTTPConnectionPool, request: Request, allowance: Allowance) -> Response:
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
    return Response(status=raw.status, reason=_reason(raw), headers=headers, body=body)


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
    headers: tuple[tuple[str, str], ...], raw: BaseHTTPResponse, request: Request, allowance: Allowance
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
