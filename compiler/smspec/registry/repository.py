"""One repository of a registry: its tags, their manifests, and the configs of images.

Every response is verified: the digest is that of the received bytes, and these are a manifest of an image.
"""

from __future__ import annotations

from urllib.parse import SplitResult

from smspec.diagnostics.external_messages import continued
from smspec.registry.challenge import is_basic, is_bearer, token_for
from smspec.registry.manifest import (
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
from smspec.wire.fault import BadResponse
from smspec.wire.fetching import fetched
from smspec.wire.json_body import object_body
from smspec.wire.trust import trust_of_environment
from smspec.wire.url import is_loopback, parsed, place

_HUB = "registry-1.docker.io"
_HUB_NAMES = (None, "docker.io", "index.docker.io")
_LARGEST = 1 << 20
"""The maximum size of a manifest or config in bytes: ten times the largest known ones."""

_MEANINGS = {
    401: "it requires credentials",
    403: "access denied",
    404: "no such image or tag",
    429: "too many requests from this address; try again later",
}


class NotFound(BadResponse):
    """There is no such tag, or no such repository."""


class AccessDenied(BadResponse):
    """The registry requires other credentials. ``reason``: its own words."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


class Busy(BadResponse):
    """The registry throttles, or fails for a while."""


def host_and_name(reference: ImageReference) -> tuple[str, str]:
    """Return the host and the repository of an image; Docker Hub is the default, with its own images in `library`."""
    repository = reference.repository
    if reference.registry not in _HUB_NAMES:
        return str(reference.registry), repository
    return _HUB, repository if "/" in repository else f"library/{repository}"


class Repository:
    """A repository, with the time limit for all requests to it together.

    ``authorization``: the header to send to the registry at once, and to no other host. ``login``: the header to send
    when the registry asks for one, also to the server of its tokens.
    """

    def __init__(self, host: str, name: str, authorization: str | None = None, login: str | None = None) -> None:
        self._url = _url_of(host)
        self._name = name
        self._authorization = authorization
        self._login = login
        self._deadline = Deadline()
        self._connections = Connections(trust_of_environment())
        self._blobs: dict[str, bytes] = {}

    def manifest(self, tag: str) -> Manifest:
        """Return the manifest of a tag, or of a digest. Raise `WireFault`."""
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
        if response.status == 401 and self._authorization is None and place(url) == place(self._url):
            challenge = response.header("www-authenticate")
            if is_bearer(challenge):
                token = token_for(
                    self._connections, challenge, self._url, self._name, self._deadline, login=self._login
                )
                self._authorization = f"Bearer {token}"
                response, url = self._asked(what, accept)
            elif is_basic(challenge) and self._login is not None:
                self._authorization = self._login
                response, url = self._asked(what, accept)
        if response.status != 200:
            raise _fault(response)
        return response

    def _asked(self, what: str, accept: str) -> tuple[Response, SplitResult]:
        headers = {"Accept": accept, "User-Agent": "smspec"}
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        url = f"{self._url.geturl()}/v2/{self._name}/{what}"
        found = fetched(self._connections, url, headers, deadline=self._deadline, size=_LARGEST)
        return found.response, found.url


def _fault(response: Response) -> BadResponse:
    text = _MEANINGS.get(response.status, f"it responds {response.status} {response.reason}".rstrip())
    if response.status == 404:
        return NotFound(text)
    if response.status in (401, 403):
        return AccessDenied(text, _reason(response))
    return Busy(text) if response.status == 429 or response.status >= 500 else BadResponse(text)


def _reason(response: Response) -> str:
    """Return the message of the first error that a registry lists; empty where it lists none."""
    try:
        listed = object_body(response.body).get("errors")
    except BadResponse:
        return ""
    first = listed[0] if isinstance(listed, list) and listed else None
    return continued(str(first.get("message", "")))[:600] if isinstance(first, dict) else ""


def _url_of(host: str) -> SplitResult:
    """Return the URL of a registry: encrypted, unless it is on this machine."""
    plain = parsed(f"http://{host}")
    return plain if is_loopback(plain) else parsed(f"https://{host}")
