"""One repository of a registry: its tags, their manifests, and the configs and layers of images.

An `ImageUpload` puts an image there: blobs that it lacks, and the manifest at the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from urllib.parse import SplitResult, quote

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
from smspec.registry.session import Session, fault_of
from smspec.service.image_reference import ImageReference
from smspec.wire.exchange import HttpResponse
from smspec.wire.fault import BadResponse, Deadline

_HUB = "registry-1.docker.io"
_HUB_NAMES = (None, "docker.io", "index.docker.io")
_LARGEST = 1 << 20
"""The maximum size of a manifest or config in bytes: ten times the largest known ones."""

_CHUNK = 8 << 20
"""The size of a part of a layer in bytes: what is in memory at a time."""

Repeated = Callable[[Callable[[], bytes]], bytes]
"""Makes a request, and makes it again if it chooses."""

Chunks = Callable[[], Iterator[bytes]]
"""Returns the content of a blob from its start, in parts."""

_PIECE = 256 << 10
"""Bytes that are sent within one time limit."""


def host_and_name(reference: ImageReference) -> tuple[str, str]:
    """Return the host and the repository of an image; Docker Hub is the default, with its own images in `library`."""
    repository = reference.repository
    if reference.registry not in _HUB_NAMES:
        return str(reference.registry), repository
    return _HUB, repository if "/" in repository else f"library/{repository}"


class ImageRepository:
    """A repository, with the time limit for all manifests and configs together; each part of a layer has its own.

    ``authorization``: the header to send to the registry at once, and to no other host. ``login``: the header to send
    when the registry asks for one, also to the server of its tokens.
    """

    def __init__(self, reference: ImageReference, authorization: str | None = None, login: str | None = None) -> None:
        self.host, self.name = host_and_name(reference)
        self._session = Session(self.host, self.name, authorization, login)
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


class ImageUpload:
    """Puts one image in a repository. Its methods raise `WireFault`, and may be called again after one."""

    def __init__(self, reference: ImageReference, login: str | None) -> None:
        self.host, name = host_and_name(reference)
        self._session = Session(self.host, name, login=login)

    def has(self, blob: Blob) -> bool:
        """Return whether the repository has a blob."""
        response = self._session.sent("HEAD", self._session.url(f"blobs/{blob.digest}"), Deadline())
        if response.status == 404:
            return False
        if response.status not in (200, 307):  # the blob may be at a different server
            raise fault_of(response)
        return True

    def mounted(self, blob: Blob, repository: str) -> bool:
        """Take a blob from a different repository of the registry; return whether that worked."""
        words = f"mount={quote(blob.digest)}&from={quote(repository, safe='/')}"
        response = self._begun(f"blobs/uploads/?{words}")
        return response is not None and response.status == 201

    def put_blob(self, blob: Blob, chunks: Chunks) -> None:
        """Send a blob; the registry keeps it only if it has its digest."""
        where = self._session.url("blobs/uploads/")
        response = self._begun("blobs/uploads/")
        if response is None or response.status != 202:
            raise BadResponse("it does not begin an upload")
        where = self._session.location(response, where)
        query = f"digest={quote(blob.digest)}"
        where = where._replace(query=f"{where.query}&{query}" if where.query else query)
        self._finished(self._put(where, blob, chunks))

    def put_manifest(self, tag: str, content: bytes, media_type: str) -> None:
        """Give the image its tag. Only now is anything to be seen in the repository."""
        url = self._session.url(f"manifests/{tag}")
        self._finished(self._session.sent("PUT", url, Deadline(), {"Content-Type": media_type}, content))

    def _begun(self, what: str) -> HttpResponse | None:
        """Begin an upload. None: the registry rejects the request, as for a mount that it does not allow."""
        response = self._session.sent("POST", self._session.url(what), Deadline())
        if response.status in (201, 202):
            return response
        if "mount=" in what and response.status in (400, 401, 403, 404, 405):
            return None
        raise fault_of(response)

    def _put(self, where: SplitResult, blob: Blob, chunks: Chunks) -> HttpResponse:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        source = chunks()
        first = next(source, b"")  # the time that its server takes is not that of this one
        deadline = Deadline()
        pieces = _pieces(chain((first,), source), deadline)
        return self._session.sent("PUT", where, deadline, headers, pieces if blob.size else b"")

    def _finished(self, response: HttpResponse) -> None:
        if response.status not in (201, 204):
            raise fault_of(response)


def _pieces(chunks: Iterator[bytes], deadline: Deadline) -> Iterator[bytes]:
    """Yield chunks in pieces. Each that has left extends the deadline, like what arrives."""
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            piece = chunk[start : start + _PIECE]
            yield piece
            deadline.received(len(piece))
