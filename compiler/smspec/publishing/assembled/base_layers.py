"""The base of an image, from its registry: its config and its layers, which are never unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from smspec.plan.plan import ImagePlan
from smspec.publishing.publication import PublishFailed
from smspec.publishing.registry_image import Logins
from smspec.publishing.remote_image import patiently
from smspec.registry.manifest import Blob, ImageLayer, Manifest
from smspec.registry.repository import ImageRepository, host_and_name
from smspec.service.image_python import locked_python, python_of_image
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.submission.aws_errors import ActionDenied, AwsUnavailable
from smspec.wire.fault import BadResponse, WireFault

GZIP = "application/vnd.docker.image.rootfs.diff.tar.gzip"
TAR = "application/vnd.docker.image.rootfs.diff.tar"
_DOCKER_TYPES = {
    GZIP: GZIP,
    TAR: TAR,
    "application/vnd.oci.image.layer.v1.tar+gzip": GZIP,
    "application/vnd.oci.image.layer.v1.tar": TAR,
}
"""Media type → the type of the same bytes in a manifest of Docker, which SageMaker requires; zstd has none."""

_LARGEST_LAYER = 52_000 << 20
"""Bytes: the quota of Amazon ECR. docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html"""

_OLDEST_PYTHON = (3, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """``host`` and ``name``: its registry and repository. ``layers`` have media types of Docker."""

    host: str
    name: str
    config: dict[str, object]
    layers: tuple[ImageLayer, ...]
    reference: str
    repository: ImageRepository

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield a layer in parts, verified. Raise PublishFailed."""
        try:
            yield from self.repository.chunks(blob, patiently)
        except WireFault as fault:
            raise _unreadable(self.reference, fault) from None


def read_base(image: ImagePlan, logins: Logins) -> Base:
    """Return the base that an image names with its digest. Raise PublishFailed."""
    reference = parsed_reference(image.base)
    assert reference is not None and reference.digest is not None  # `obstacle` has checked it
    host, name = host_and_name(reference)
    try:
        repository, manifest = patiently(lambda: _found(reference, image.platform, logins))
        config, listed_python = repository.config(manifest), repository.python(manifest, image.platform)
    except WireFault as fault:
        raise _unreadable(image.base, fault) from None
    except (ActionDenied, AwsUnavailable) as fault:
        raise PublishFailed(3, f"cannot read the base `{image.base}`: {fault}") from None
    _check_python(image, listed_python)
    layers = tuple(_of_docker(layer, image.base) for layer in manifest.layers)
    return Base(host=host, name=name, config=config, layers=layers, reference=image.base, repository=repository)


def _found(reference: ImageReference, platform: str, logins: Logins) -> tuple[ImageRepository, Manifest]:
    """Return the image of a base for a platform, with its repository, which then has its config. Raise `WireFault`."""
    host, name = host_and_name(reference)
    repository = ImageRepository(host, name, login=logins.header(reference))
    listed = repository.manifest(str(reference.digest))
    if listed.digest != reference.digest:
        raise BadResponse("the image does not match its digest")
    repository.require(listed, platform)
    manifest = repository.image(listed, platform)
    if manifest is None:
        raise BadResponse(f"the image is not for {platform}")
    repository.require(manifest, platform)
    return repository, manifest


def _of_docker(layer: ImageLayer, reference: str) -> ImageLayer:
    if layer.media_type not in _DOCKER_TYPES:
        raise PublishFailed(
            1,
            f"the base `{reference}` has a layer of type `{layer.media_type[:100]}`, which an image for SageMaker"
            " cannot have; build the image with an engine",
        )
    if layer.blob.size > _LARGEST_LAYER:
        raise PublishFailed(3, f"the base `{reference}` has a layer of {layer.blob.size:,} bytes")
    return ImageLayer(layer.blob, _DOCKER_TYPES[layer.media_type])


def _check_python(image: ImagePlan, listed: str) -> None:
    """Check that the base has the Python of the entrypoint, as the Dockerfile does by running it."""
    found = locked_python(listed) or locked_python(image.python) or python_of_image(image.base)
    if found is None:
        raise PublishFailed(
            1,
            f"the Python of the base `{image.base}` is unknown: neither its name nor its config shows it"
            " (`PYTHON_VERSION`), and `--engine none` runs nothing; build the image with an engine",
        )
    if found < _OLDEST_PYTHON:
        raise PublishFailed(
            1, f"the base `{image.base}` has Python {found[0]}.{found[1]}; the entrypoint needs Python 3.8 or later"
        )


def _unreadable(reference: str, fault: WireFault) -> PublishFailed:
    return PublishFailed(3, f"cannot read the base `{reference}`: {fault}")
