"""One repository of a registry: its tags, their manifests, and the configs and layers of images.

Every response is verified: the digest is that of the received bytes, and these are a manifest of an image.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial

from smspec.registry.manifest import (
    ACCEPTED,
    Blob,
    Manifest,
    config_members,
    config_platform,
    config_python,
    has_platform,
    image_for,
    read_manifest,
    shown,
)
from smspec.registry.session import Session
from smspec.service.image_reference import ImageReference
from smspec.wire.deadline import Deadline
from smspec.wire.fault import BadResponse

_HUB = "registry-1.docker.io"
_HUB_NAMES = (None, "docker.io", "index.docker.io")
_LARGEST = 1 << 20
"""The maximum size of a manifest or config in bytes: ten times the largest known ones."""

_CHUNK = 8 << 20
"""The size of a part of a layer in bytes: what is in memory at a time."""

Repeated = Callable[[Callable[[], bytes]], bytes]
"""Makes a request, and makes it again if it chooses."""


def host_and_name(reference: ImageReference) -> tuple[str, str]:
    """Return the host and the repository of an image; Docker Hub is the default, with its own images in `library`."""
    repository = reference.repository
    if reference.registry not in _HUB_NAMES:
        return str(reference.registry), repository
    return _HUB, repository if "/" in repository else f"library/{repository}"


class Repository:
    """A repository, with the time limit for all manifests and configs together; each part of a layer has its own.

    ``authorization``: the header to send to the registry at once, and to no other host. ``login``: the header to send
    when the registry asks for one, also to the server of its tokens.
    """

    def __init__(self, host: str, name: str, authorization: str | None = None, login: str | None = None) -> None:
        self._session = Session(host, name, authorization, login)
        self._deadline = Deadline()
        self._blobs: dict[str, bytes] = {}

    def manifest(self, tag: str) -> Manifest:
        """Return the manifest of a tag, or of a digest. Raise `WireFault`."""
        response = self._session.got(f"manifests/{tag}", {"Accept": ACCEPTED}, self._deadline, _LARGEST)
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
        image = self.image(manifest, platform)
        return "" if image is None or image.config is None else config_python(self._blob(image.config), image.config)

    def image(self, manifest: Manifest, platform: str) -> Manifest | None:
        """Return the image for a platform in an index, or the image itself; None without one. Raise `WireFault`."""
        if manifest.config is not None:
            return manifest
        blob = image_for(manifest, platform)
        if blob is None:
            return None
        found = self.manifest(blob.digest)
        if found.digest != blob.digest:
            raise BadResponse("the image does not match the digest in its index")
        return found

    def config(self, manifest: Manifest) -> dict[str, object]:
        """Return the config of an image. Raise `WireFault`."""
        assert manifest.config is not None  # of an image
        return config_members(self._blob(manifest.config), manifest.config)

    def chunks(self, blob: Blob, repeated: Repeated = lambda request: request()) -> Iterator[bytes]:
        """Yield a blob in parts; the last one only if all of them have its digest. Raise `WireFault`.

        ``repeated``: makes the request of each part.
        """
        digest = hashlib.new(blob.digest.partition(":")[0])
        for start in range(0, blob.size, _CHUNK):
            end = min(start + _CHUNK, blob.size)
            part = repeated(partial(self._part, blob, start, end))
            digest.update(part)
            if end == blob.size and digest.hexdigest() != blob.digest.partition(":")[2]:
                raise BadResponse(f"the layer `{blob.digest}` does not match its digest")
            yield part

    def _part(self, blob: Blob, start: int, end: int) -> bytes:
        is_whole = end - start == blob.size
        headers = {"Accept": "*/*"} if is_whole else {"Accept": "*/*", "Range": f"bytes={start}-{end - 1}"}
        response = self._session.got(f"blobs/{blob.digest}", headers, Deadline(), _CHUNK)
        expected = "" if response.status == 200 else f"bytes {start}-{end - 1}/{blob.size}"
        if (response.status == 200) != is_whole or response.header("content-range") != expected:
            raise BadResponse(f"it sends another part of the layer `{blob.digest}` than it was asked for")
        if len(response.body) != end - start:
            raise BadResponse(f"the layer `{blob.digest}` has another size than in its manifest")
        return response.body

    def _blob(self, blob: Blob) -> bytes:
        if blob.digest not in self._blobs:
            response = self._session.got(f"blobs/{blob.digest}", {"Accept": "*/*"}, self._deadline, _LARGEST)
            self._blobs[blob.digest] = response.body
        return self._blobs[blob.digest]
