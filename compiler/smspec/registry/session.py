"""Requests to one repository of a registry, with credentials or a token when the registry asks for one.

A challenge says how a registry requests credentials, and where to get a token; a status, what went wrong. A token may
come from any host over https, as for Docker Hub. That host gets the parameters of the challenge and no credentials, and
its token goes only to the registry.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult

from smspec.diagnostics.quoting import continued
from smspec.wire.connections import Connections, trust_of_environment
from smspec.wire.exchange import HttpRequest, HttpResponse, exchanged, fetched, followed, is_loopback, parsed, place
from smspec.wire.fault import BadResponse, Deadline
from smspec.wire.json_body import object_body

_MEANINGS = {
    401: "it requires credentials",
    403: "access denied",
    404: "no such image or tag",
    429: "too many requests from this address; try again later",
}

_LARGEST_REPORT = 128 << 10
"""The maximum size of a response to a request that sends something, in bytes."""

_PARAMETER = re.compile(r'([a-zA-Z_]{1,32})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))')
_TOKEN = re.compile(r"[!-~]{1,16384}")
_LARGEST = 128 << 10
_BEARER = "bearer "
_BASIC = "basic "


class NotFound(BadResponse):
    """There is no such tag, or no such repository."""


class RegistryDenied(BadResponse):
    """The registry requires other credentials. ``reason``: its own words."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


class Busy(BadResponse):
    """The registry throttles, or fails for a while."""


def fault_of(response: HttpResponse) -> BadResponse:
    """Return the exception for a response that is no success."""
    text = _MEANINGS.get(response.status, f"it responds {response.status} {response.reason}".rstrip())
    if response.status == 404:
        return NotFound(text)
    if response.status in (401, 403):
        return RegistryDenied(text, _reason(response))
    return Busy(text) if response.status == 429 or response.status >= 500 else BadResponse(text)


def _reason(response: HttpResponse) -> str:
    """Return the message of the first error that a registry lists; empty where it lists none."""
    try:
        listed = object_body(response.body).get("errors")
    except BadResponse:
        return ""
    first = listed[0] if isinstance(listed, list) and listed else None
    return continued(str(first.get("message", "")))[:600] if isinstance(first, dict) else ""


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

    def got(self, what: str, headers: Mapping[str, str], deadline: Deadline, size: int) -> HttpResponse:
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
    ) -> HttpResponse:
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

    def location(self, response: HttpResponse, url: SplitResult) -> SplitResult:
        """Return where a response says to go on: at this registry only, which alone may have the credentials."""
        there = followed(url, response.header("location"))
        if place(there) != place(self._url):
            raise BadResponse(f"it sends the upload to `{there.scheme}://{there.netloc}`, a different server")
        return there

    def _authorize(self, response: HttpResponse, deadline: Deadline) -> bool:
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
    ) -> tuple[HttpResponse, SplitResult]:
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
    ) -> HttpResponse:
        lengths = {"Content-Length": str(len(body))} if isinstance(body, bytes) and method != "HEAD" else {}
        whole = {"Accept-Encoding": "identity", **lengths, **self._headers(headers)}
        request = HttpRequest(url=where, method=method, headers=whole, body=body or None)
        return exchanged(self._connections, request, deadline, _LARGEST_REPORT)

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        secret = {} if self._authorization is None else {"Authorization": self._authorization}
        return {**headers, "User-Agent": "smspec", **secret}


def _url_of(host: str) -> SplitResult:
    """Return the URL of a registry: encrypted, unless it is on this machine."""
    plain = parsed(f"http://{host}")
    return plain if is_loopback(plain) else parsed(f"https://{host}")


def is_bearer(challenge: str) -> bool:
    """Return whether a WWW-Authenticate header requests a token."""
    return challenge.lower().startswith(_BEARER)


def is_basic(challenge: str) -> bool:
    """Return whether a WWW-Authenticate header requests a name and a password."""
    return challenge.lower().startswith(_BASIC)


def token_for(
    connections: Connections,
    challenge: str,
    registry: urllib.parse.SplitResult,
    repository: str,
    deadline: Deadline,
    *,
    login: str | None = None,
) -> str:
    """Return a token for reading a repository, from the realm of its registry. Raise `WireFault`.

    The realm is usually a different host, and gets only the parameters of the challenge, so a registry cannot send
    credentials to a host of its choice. ``login``: the header with those that the user has for this registry, which
    engines send to its realm, too. Only a registry on this machine may be used without encryption.
    """
    parameters = {
        match[1].lower(): match[2] if match[2] is not None else match[3] for match in _PARAMETER.finditer(challenge)
    }
    realm = parsed(parameters.get("realm", ""))
    if realm.scheme != "https" and not (is_loopback(realm) and registry.scheme == "http"):
        raise BadResponse(f"its token server `{realm.scheme}://{realm.netloc}` is not encrypted")
    query = {"scope": parameters.get("scope", f"repository:{repository}:pull")}
    query |= {"service": parameters["service"]} if "service" in parameters else {}
    words = urllib.parse.urlencode(query)
    url = realm._replace(query=f"{realm.query}&{words}" if realm.query else words, fragment="")
    headers = {} if login is None else {"Authorization": login}
    response = fetched(connections, url.geturl(), headers, deadline=deadline, size=_LARGEST).response
    if response.status != 200:
        raise BadResponse(f"the token server `{realm.netloc}` responds {response.status} {response.reason}".rstrip())
    members = object_body(response.body)
    token = members.get("token") or members.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise BadResponse(f"the response of the token server `{realm.netloc}` has no token")
    return token
