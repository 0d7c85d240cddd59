"""Asking a registry which digest a tag has: the distribution API, version 2, with the standard library."""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping

from smspec.diagnostics.foreign_words import continued
from smspec.service.image_reference import SHA256, ImageReference

_HUB = "registry-1.docker.io"
_INDEX_FIRST = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_PATIENCE = 10.0
"""Seconds that a registry has for each answer."""

_LARGEST = 4 << 20


class NoAnswer(Exception):
    """The registry did not say which digest the tag has; the text says why."""


def resolved(reference: ImageReference, authorization: str | None = None) -> str:
    """Return the digest that the tag of a reference has now; of the index, where an image is for several platforms.

    ``authorization``: the header to come with at once. Raises `NoAnswer`.
    """
    host, repository = _place(reference)
    scheme = "http" if re.match(r"localhost(?::|$)|127\.0\.0\.1(?::|$)|\[::1\]", host) else "https"
    url = f"{scheme}://{host}/v2/{repository}/manifests/{reference.tag or 'latest'}"
    headers = {"Accept": _INDEX_FIRST} | ({"Authorization": authorization} if authorization else {})
    try:
        return _digest(url, headers)
    except urllib.error.HTTPError as refusal:
        challenge = refusal.headers.get("WWW-Authenticate", "")
        if refusal.code != 401 or authorization or not challenge.lower().startswith("bearer "):
            raise NoAnswer(_sentence(host, refusal)) from None
    except (OSError, ValueError) as fault:
        raise NoAnswer(_sentence(host, fault)) from None
    try:
        return _digest(url, headers | {"Authorization": f"Bearer {_token(challenge, repository)}"})
    except (OSError, ValueError) as fault:
        raise NoAnswer(_sentence(host, fault)) from None


def _place(reference: ImageReference) -> tuple[str, str]:
    """Return host and repository; Docker Hub is meant where no registry is named, and has its own under `library`."""
    if reference.registry not in (None, "docker.io", "index.docker.io"):
        return str(reference.registry), reference.repository
    repository = reference.repository
    return _HUB, repository if "/" in repository else f"library/{repository}"


def _digest(url: str, headers: Mapping[str, str]) -> str:
    with _opened(url, headers, "HEAD") as answer:
        named = answer.headers.get("Docker-Content-Digest") or ""
    if re.fullmatch(SHA256, named):
        return str(named)
    with _opened(url, headers, "GET") as answer:
        return f"sha256:{hashlib.sha256(answer.read(_LARGEST)).hexdigest()}"


def _token(challenge: str, repository: str) -> str:
    """Return an anonymous token from where the registry sends us."""
    said = dict(re.findall(r'([a-z_]+)="([^"]*)"', challenge))
    realm = said.get("realm", "")
    if not realm.startswith(("https://", "http://localhost", "http://127.0.0.1")):
        raise ValueError("it asks for a token without saying where to get one safely")
    query = {"scope": said.get("scope", f"repository:{repository}:pull")}
    query |= {"service": said["service"]} if "service" in said else {}
    with _opened(f"{realm}?{urllib.parse.urlencode(query)}", {}, "GET") as answer:
        data = json.loads(answer.read(_LARGEST))
    token = (data.get("token") or data.get("access_token")) if isinstance(data, dict) else None
    if not isinstance(token, str) or not token.isprintable():
        raise ValueError("it gave no token")
    return token


def _opened(url: str, headers: Mapping[str, str], method: str) -> urllib.response.addinfourl:
    request = urllib.request.Request(url, headers=dict(headers), method=method)
    opened: urllib.response.addinfourl = urllib.request.urlopen(request, timeout=_PATIENCE)
    return opened


def _sentence(host: str, fault: Exception) -> str:
    if isinstance(fault, urllib.error.HTTPError):
        meaning = {401: "it asks for credentials", 403: "it does not let us", 404: "it has no such image or tag"}
        return f"{host}: {meaning.get(fault.code, f'it answered {fault.code} {fault.reason}')}"
    if isinstance(fault, urllib.error.URLError) and isinstance(fault.reason, OSError):
        fault = fault.reason
    return f"{host}: {continued(getattr(fault, 'strerror', None) or str(fault) or type(fault).__name__)}"
