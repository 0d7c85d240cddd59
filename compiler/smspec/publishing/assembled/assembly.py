"""An image as values: its manifest, its config, and all of its layers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from smspec.output.failures import OutputFailed
from smspec.publishing.assembled.base_layers import GZIP, Base, read_base
from smspec.publishing.assembled.file_layers import FileLayer, file_layers
from smspec.publishing.assembled.image_config import as_json, image_config, image_manifest
from smspec.publishing.assembled.obstacles import obstacle
from smspec.publishing.publication import JobImage, PublishFailed
from smspec.publishing.registry_image import Logins
from smspec.registry.manifest import Blob, Layer
from smspec.render.image_settings import image_settings
from smspec.wire.fault import BadResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledImage:
    """``layers``: of the base and of the generated files, the lowest first."""

    base: Base
    added: tuple[FileLayer, ...]
    layers: tuple[Layer, ...]
    config: bytes
    config_blob: Blob
    manifest: bytes

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield the content of a layer. Raise PublishFailed."""
        own = next((layer for layer in self.added if layer.blob == blob), None)
        if own is None:
            yield from self.base.chunks(blob)
            return
        try:
            yield from own.chunks()
        except OutputFailed as failure:
            raise PublishFailed(3, str(failure)) from None


def require_no_command(job: JobImage) -> None:
    """Raise PublishFailed if something in the spec of an image runs in the base."""
    found = obstacle(job.authored, job.image)
    if found is not None:
        raise PublishFailed(1, f"{job.spec}: {found}")


def assembled(job: JobImage, logins: Logins) -> AssembledImage:
    """Return the image of a job. Of its base, only manifest and config are read. Raise PublishFailed."""
    base = read_base(job.image, logins)
    try:
        added = file_layers(job.content)
    except OutputFailed as failure:
        raise PublishFailed(3, str(failure)) from None
    settings = image_settings(job.image, None)
    try:
        config = as_json(image_config(base.config, len(base.layers), settings, added))
    except BadResponse as fault:
        raise PublishFailed(3, f"cannot use the base `{job.image.base}`: {fault}") from None
    blob = Blob(f"sha256:{hashlib.sha256(config).hexdigest()}", len(config))
    layers = (*base.layers, *(Layer(layer.blob, GZIP) for layer in added))
    manifest = image_manifest(config, blob.digest, layers)
    return AssembledImage(base=base, added=added, layers=layers, config=config, config_blob=blob, manifest=manifest)
