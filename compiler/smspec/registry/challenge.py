"""How a registry requests credentials, and how to get a token.

A token may come from any host over https, as for Docker Hub. That host gets the parameters of the challenge and no
credentials, and its token goes only to the registry.
"""

from __future__ import annotations

import re
import urllib.parse

from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.fault import BadResponse
from smspec.wire.fetching import fetched
from smspec.wire.json_body import object_body
from smspec.wire.url import is_loopback, parsed

_PARAMETER = re.compile(r'([a-zA-Z_]{1,32})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))')
_TOKEN = re.compile(r"[!-~]{1,16384}")
_LARGEST = 128 << 10
_BEARER = "bearer "
_BASIC = "basic "


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
