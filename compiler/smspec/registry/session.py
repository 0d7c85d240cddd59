"""Requests to one repository of a registry, with credentials or a token when the registry asks for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult

from smspec.registry.challenge import is_basic, is_bearer, token_for
from smspec.registry.responses import fault_of
from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.exchange import Request, Response, exchanged
from smspec.wire.fault import BadResponse
from smspec.wire.fetching import fetched
from smspec.wire.trust import trust_of_environment
from smspec.wire.url import followed, is_loopback, parsed, place

_LARGEST_REPORT = 128 << 10
"""The maximum size of a response to a request that sends something, in bytes."""


class Session:
    """Sends requests to a repository. Its methods raise `WireFault`.

    ``authorization``: the header to send to the registry at once, and to no other host. ``login``: the header to send
    when the registry asks for one, also to the server of its tokens.
    """

    def __init__(self, host: str, name: str, authorization: str | None = None, login: str | None = None) -> None:
        self._url = _url_of(host)
        self._name = name
        self._authorization = authorization
        self._login = login
        self._is_given = authorization is not None
        self._connections = Connections(trust_of_environment())

    def got(self, what: str, headers: Mapping[str, str], deadline: Deadline, size: int) -> Response:
        """Download what is below the repository; follow redirects. Its status is 200, or 206 for a part."""
        response, url = self._fetched(what, headers, deadline, size)
        if response.status == 401 and place(url) == place(self._url) and self._authorize(response, deadline):
            response, url = self._fetched(what, headers, deadline, size)
        if response.status != 200 and (response.status != 206 or "Range" not in headers):
            raise fault_of(response)
        return response

    def sent(
        self,
        method: str,
        where: SplitResult,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        body: bytes | Iterable[bytes] = b"",
    ) -> Response:
        """Send a request to the registry itself, and return its response, whatever its status is.

        A request whose body is not `bytes` is sent once: the registry must have accepted the credentials before.
        """
        response = self._exchanged(method, where, deadline, headers or {}, body)
        if response.status == 401 and isinstance(body, bytes) and self._authorize(response, deadline):
            response = self._exchanged(method, where, deadline, headers or {}, body)
        return response

    def url(self, what: str) -> SplitResult:
        """Return the URL of something below the repository."""
        return parsed(f"{self._url.geturl()}/v2/{self._name}/{what}")

    def location(self, response: Response, url: SplitResult) -> SplitResult:
        """Return where a response says to go on: at this registry only, which alone may have the credentials."""
        there = followed(url, response.header("location"))
        if place(there) != place(self._url):
            raise BadResponse(f"it sends the upload to `{there.scheme}://{there.netloc}`, a different server")
        return there

    def _authorize(self, response: Response, deadline: Deadline) -> bool:
        """Take the credentials that a response asks for; return whether there are new ones."""
        if self._is_given:
            return False
        challenge, before = response.header("www-authenticate"), self._authorization
        if is_bearer(challenge):
            token = token_for(self._connections, challenge, self._url, self._name, deadline, login=self._login)
            self._authorization = f"Bearer {token}"
            return True
        if is_basic(challenge) and self._login is not None:
            self._authorization = self._login
        return self._authorization != before

    def _fetched(
        self, what: str, headers: Mapping[str, str], deadline: Deadline, size: int
    ) -> tuple[Response, SplitResult]:
        found = fetched(
            self._connections, self.url(what).geturl(), self._headers(headers), deadline=deadline, size=size
        )
        return found.response, found.url

    def _exchanged(
        self,
        method: str,
        where: SplitResult,
        deadline: Deadline,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes],
    ) -> Response:
        lengths = {"Content-Length": str(len(body))} if isinstance(body, bytes) and method != "HEAD" else {}
        whole = {"Accept-Encoding": "identity", **lengths, **self._headers(headers)}
        request = Request(url=where, method=method, headers=whole, body=body or None)
        return exchanged(self._connections, request, deadline, _LARGEST_REPORT)

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        secret = {} if self._authorization is None else {"Authorization": self._authorization}
        return {**headers, "User-Agent": "smspec", **secret}


def _url_of(host: str) -> SplitResult:
    """Return the URL of a registry: encrypted, unless it is on this machine."""
    plain = parsed(f"http://{host}")
    return plain if is_loopback(plain) else parsed(f"https://{host}")
