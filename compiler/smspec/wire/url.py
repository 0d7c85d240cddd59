"""URLs that a server may redirect to."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urljoin, urlsplit

from smspec.wire.fault import BadResponse

_LOOPBACK = r"localhost|127(?:\.[0-9]{1,3}){3}|::1"
_HOST = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})|[0-9A-Fa-f:.]{2,45}"
_PRINTABLE = re.compile(r"[!-~]{1,8192}")
_PORTS = {"http": 80, "https": 443}


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
