"""Make an image without an engine: to its registry, or to a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

from smspec.publishing.assembled.assembly import AssembledImage, assembled, require_no_command
from smspec.publishing.assembled.docker_archive import SUFFIX, write_archive
from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed, PublishOptions
from smspec.publishing.registry_image import ImageInRegistry, Logins
from smspec.publishing.remote_image import DOCKER_MANIFEST, patiently
from smspec.registry.manifest import ImageLayer
from smspec.registry.repository import ImageUpload, host_and_name
from smspec.registry.session import NotFound, RegistryDenied, Session
from smspec.wire.fault import BadResponse, WireFault

Show = Callable[[str], None]


def archived(job: JobImage, logins: Logins, show: Show) -> PublishedImage:
    """Write an image to a file next to its build directory. Raise PublishFailed."""
    require_no_command(job)
    path = f"{job.tree.rstrip('/')}{SUFFIX}"
    show(f"reading the base {job.image.base}")
    is_new = write_archive(assembled(job, logins, show), job.image.uri, path)
    return PublishedImage(uri=job.image.uri, status="built" if is_new else "present", archive=path)


def pushed(job: JobImage, logins: Logins, options: PublishOptions) -> PublishedImage:
    """Put an image in its registry, unless it is there. Raise PublishFailed."""
    require_no_command(job)
    return _Push(job, logins, options).outcome()


class _Push(ImageInRegistry):
    """One image that its registry is to have."""

    def __init__(self, job: JobImage, logins: Logins, options: PublishOptions) -> None:
        super().__init__(job, logins)
        self._show, self._waits = options.show, options.waits

    def outcome(self) -> PublishedImage:
        with self._waits(f"the registry of `{self._job.image.uri}`"):
            present = self.present()
        if present is not None:
            return present
        self._show(f"reading the base {self._job.image.base}")
        image = assembled(self._job, self._logins, self._show)
        with self._explained():
            self._require_repository(self._show)
            is_new = self._send(image)
            digest = f"sha256:{hashlib.sha256(image.manifest).hexdigest()}" if is_new else ""
            return self._verified(digest, is_new=is_new)

    def _send(self, image: AssembledImage) -> bool:
        """Send what the repository lacks, and the manifest at the end; return whether the tag is new."""
        host, name = host_and_name(self._reference)
        upload = ImageUpload(Session(host, name, login=self._logins.header(self._reference)))
        self._show(f"pushing the image {self._job.image.uri}")
        try:
            for number, layer in enumerate(image.layers, 1):
                patiently(partial(self._send_layer, upload, image, layer, host))
                self._show(f"pushed {number} of {len(image.layers)} layers")
            if not patiently(lambda: upload.has(image.config_blob)):
                patiently(lambda: upload.put_blob(image.config_blob, lambda: iter((image.config,))))
            tag = self._reference.tag or "latest"
            return self._tag(upload, tag, image.manifest)
        except RegistryDenied as denied:
            if self._ecr is not None:
                raise
            help = f"log in with `docker login {host}`"
            raise PublishFailed(3, f"cannot push `{self._job.image.uri}`: {denied}; {help}") from None
        except WireFault as fault:
            raise PublishFailed(3, f"cannot push `{self._job.image.uri}`: {fault}") from None

    def _send_layer(self, upload: ImageUpload, image: AssembledImage, layer: ImageLayer, host: str) -> None:
        blob = layer.blob
        if upload.has(blob):
            return
        is_of_base = layer in image.base.layers
        if is_of_base and image.base.host == host and upload.mounted(blob, image.base.name):
            return
        upload.put_blob(blob, lambda: image.chunks(blob))

    def _tag(self, upload: ImageUpload, tag: str, manifest: bytes) -> bool:
        try:
            patiently(lambda: upload.put_manifest(tag, manifest, DOCKER_MANIFEST))
        except BadResponse:
            # A tag that cannot change may be there since a moment ago: what it is, is checked like any other.
            if isinstance(self._remote.found(), NotFound):
                raise
            return False
        return True
