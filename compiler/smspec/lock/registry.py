"""Query a registry for the digest of a tag: the distribution API, version 2.

Every response is verified: the digest is that of the received bytes, these are a manifest of an image, and the image is
for the platforms of the jobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult

from smspec.lock.challenge import anonymous_token, is_bearer
from smspec.lock.manifest import (
    ACCEPTED,
    Blob,
    Manifest,
    config_platform,
    config_python,
    has_platform,
    image_for,
    read_manifest,
    shown,
)
from smspec.service.image_reference import ImageReference
from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.exchange import Response
from smspec.wire.fault import BadResponse, WireFault
from smspec.wire.fetching import fetched
from smspec.wire.trust import trust_of_environment
from smspec.wire.url import is_loopback, parsed, place

_HUB = "registry-1.docker.io"
_LARGEST = 1 << 20
"""The maximum size of a manifest or config in bytes: ten times the largest known ones."""

_MEANINGS = {
    401: "it requires credentials",
    403: "access denied",
    404: "no such image or tag",
    429: "too many requests from this address; try again later",
}


class NoDigest(Exception):
    """There is no digest for the tag; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """``python``: the version in the config of the image; empty if it has none, or ``fault`` is why it was not read."""

    digest: str
    python: str = ""
    fault: str = ""


def resolved(
    reference: ImageReference,
    platforms: Iterable[str] = (),
    authorization: str | None = None,
    *,
    reads_python: bool = False,
) -> Resolved:
    """Return the current digest of the tag of a reference; that of the index, where an image is for several platforms.

    ``authorization``: the header to send to the registry, and to no other host. Raise `NoDigest`.
    """
    host, repository = _place(reference)
    platforms = tuple(platforms)
    try:
        registry = _Registry(host, repository, authorization)
        manifest = registry.manifest(reference.tag or "latest")
        for platform in platforms:
            registry.require(manifest, platform)
    except WireFault as fault:
        raise NoDigest(f"{host}: {fault}") from None
    if not reads_python:
        return Resolved(digest=manifest.digest)
    try:
        versions = {registry.python(manifest, platform) for platform in platforms}
    except WireFault as fault:
        return Resolved(digest=manifest.digest, fault=f"{host}: {fault}")
    return Resolved(digest=manifest.digest, python=versions.pop() if len(versions) == 1 else "")


def _place(reference: ImageReference) -> tuple[str, str]:
    """Return host and repository; the default registry is Docker Hub, with its own images under `library`."""
    if reference.registry not in (None, "docker.io", "index.docker.io"):
        return str(reference.registry), reference.repository
    repository = reference.repository
    return _HUB, repository if "/" in repository else f"library/{repository}"


class _Registry:
    """One repository of a registry, with the time limit for all requests to it together."""

    def __init__(self, host: str, repository: str, authorization: str | None) -> None:
        self._url = _url_of(host)
        self._repository = repository
        self._authorization = authorization
        self._deadline = Deadline()
        self._connections = Connections(trust_of_environment())
        self._blobs: dict[str, bytes] = {}

    def manifest(self, tag: str) -> Manifest:
        """Return the manifest of a tag, or of a digest."""
        response = self._get(f"manifests/{tag}", ACCEPTED)
        digest = response.header("docker-content-digest")
        return read_manifest(response.body, response.header("content-type"), digest)

    def require(self, manifest: Manifest, platform: str) -> None:
        """Raise `BadResponse` if the image of a manifest is for different platforms."""
        platforms = manifest.platforms
        if manifest.config is not None:
            found = config_platform(self._blob(manifest.config), manifest.config)
            platforms = (found,) if found else None
        if platforms is not None and not has_platform(platforms, platform):
            raise BadResponse(f"the image is not for {platform}; it is for {shown(platforms)}")

    def python(self, manifest: Manifest, platform: str) -> str:
        """Return the version of Python in the config of the image for a platform; empty if there is none."""
        if manifest.config is None:
            image = image_for(manifest, platform)
            if image is None:
                return ""
            manifest = self.manifest(image.digest)
            if manifest.digest != image.digest:
                raise BadResponse("the image does not match the digest in its index")
        return "" if manifest.config is None else config_python(self._blob(manifest.config), manifest.config)

    def _blob(self, blob: Blob) -> bytes:
        if blob.digest not in self._blobs:
            self._blobs[blob.digest] = self._get(f"blobs/{blob.digest}", "*/*").body
        return self._blobs[blob.digest]

    def _get(self, what: str, accept: str) -> Response:
        response, url = self._asked(what, accept)
        challenge = response.header("www-authenticate")
        is_here = place(url) == place(self._url)
        if response.status == 401 and self._authorization is None and is_here and is_bearer(challenge):
            token = anonymous_token(self._connections, challenge, self._url, self._repository, self._deadline)
            self._authorization = f"Bearer {token}"
            response, url = self._asked(what, accept)
        if response.status != 200:
            status = f"it responds {response.status} {response.reason}".rstrip()
            raise BadResponse(_MEANINGS.get(response.status, status))
        return response

    def _asked(self, what: str, accept: str) -> tuple[Response, SplitResult]:
        headers = {"Accept": accept, "User-Agent": "smspec"}
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        url = f"{self._url.geturl()}/v2/{self._repository}/{what}"
        found = fetched(self._connections, url, headers, deadline=self._deadline, size=_LARGEST)
        return found.response, found.url


def _url_of(host: str) -> SplitResult:
    """Return the URL of a registry: encrypted, unless it is on this machine."""
    plain = parsed(f"http://{host}")
    return plain if is_loopback(plain) else parsed(f"https://{host}")
