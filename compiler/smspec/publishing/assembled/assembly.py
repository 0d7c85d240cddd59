"""An image as values: its manifest, its config, and all of its layers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smspec.output.atomic_file import OutputFailed
from smspec.publishing.assembled.base_layers import GZIP, Base, read_base
from smspec.publishing.assembled.file_layers import FileLayer, Status, file_layer, file_layers
from smspec.publishing.assembled.image_config import as_json, base_variables, image_config, image_manifest
from smspec.publishing.assembled.obstacles import obstacle
from smspec.publishing.packages.base_listing import listing_of
from smspec.publishing.packages.layer_listing import layer_entries
from smspec.publishing.packages.package_layer import package_files
from smspec.publishing.publication import JobImage, PublishFailed
from smspec.publishing.registry_image import Logins
from smspec.registry.manifest import Blob, ImageLayer
from smspec.render.image_settings import ImageSettings, image_settings
from smspec.render.tree import GeneratedFile
from smspec.wire.fault import BadResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledImage:
    """``layers``: of the base and of the generated files, the lowest first."""

    base: Base
    added: tuple[FileLayer, ...]
    layers: tuple[ImageLayer, ...]
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
    found = obstacle(job.authored, job.image, _requirements(job))
    if found is not None:
        raise PublishFailed(1, f"{job.spec}: {found}")


def assembled(job: JobImage, logins: Logins, show: Callable[[str], None]) -> AssembledImage:
    """Return the image of a job. Raise PublishFailed.

    Of its base, only manifest and config are read, and the names in its layers if the image has packages.
    """
    base, requirements = read_base(job.image, logins), _requirements(job)
    settings = image_settings(job.image, requirements)
    try:
        packages = () if requirements is None else (_packages(job, base, requirements, settings, show),)
        added = (*packages, *file_layers(job.content))
    except OutputFailed as failure:
        raise PublishFailed(3, str(failure)) from None
    try:
        config = as_json(image_config(base.config, len(base.layers), settings, added))
    except BadResponse as fault:
        raise _unusable(job, fault) from None
    blob = Blob(f"sha256:{hashlib.sha256(config).hexdigest()}", len(config))
    layers = (*base.layers, *(ImageLayer(layer.blob, GZIP) for layer in added))
    manifest = image_manifest(config, blob.digest, layers)
    return AssembledImage(base=base, added=added, layers=layers, config=config, config_blob=blob, manifest=manifest)


def _packages(
    job: JobImage, base: Base, requirements: bytes, settings: ImageSettings, show: Callable[[str], None]
) -> FileLayer:
    listing = listing_of(layer_entries(layer, base) for layer in base.layers)
    try:
        variables = settings.variables(base_variables(base.config))
    except BadResponse as fault:
        raise _unusable(job, fault) from None

    def status(directory: str) -> Status | None:
        entry = listing.get(directory)
        return entry.status if entry is not None and entry.kind == "directory" else None

    return file_layer(package_files(job, requirements, listing, variables, show), "packages of smspec.lock", status)


def _requirements(job: JobImage) -> bytes | None:
    """Return the requirements file that the image has; None if it has none."""
    files = (file for file in job.content.files if isinstance(file, GeneratedFile))
    return next((file.content for file in files if file.path == "requirements.txt"), None)


def _unusable(job: JobImage, fault: BadResponse) -> PublishFailed:
    return PublishFailed(3, f"cannot use the base `{job.image.base}`: {fault}")
