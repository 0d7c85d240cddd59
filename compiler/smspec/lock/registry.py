"""Query a registry for the digest of a tag, and the Python of its image.

The image must be for the platforms of the jobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smspec.registry.repository import ImageRepository, host_and_name
from smspec.service.image_reference import ImageReference
from smspec.wire.fault import WireFault


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
    host, repository = host_and_name(reference)
    platforms = tuple(platforms)
    try:
        registry = ImageRepository(host, repository, authorization)
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
