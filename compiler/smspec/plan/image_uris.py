"""Replace the short name of an image in a job, such as ``pytorch-training:2.5.1-gpu``, by the URI in its region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.source import Path
from smspec.source.frozen import replace
from smspec.spec.image_repository import names_registry
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage, ExistingImage, JobSpec

if TYPE_CHECKING:
    from smspec.service.image_names import NamedImage

USUAL_BASES = ("python:", "debian:", "ubuntu:", "amazonlinux:", "buildpack-deps:")
"""Bases of most images, which are of Docker Hub and no names of images of AWS: the table need not be read."""


def with_image_uri(job: JobSpec, lock: Lock | None) -> tuple[JobSpec, NamedImage | None]:
    """Return the job with a URI instead of a short name, and what the name stands for; None if there is no name.

    A name without an image stays as it is.
    """
    image = job.image
    text = image.base if isinstance(image, BuiltImage) else image.uri if image else ""
    if image is None or "/" in text or "@" in text or text.startswith(USUAL_BASES):
        return job, None
    # Imported late: most images have a registry.
    from smspec.service.image_names import named_image

    named = named_image(
        _path(image),
        text,
        region=job.region,
        instance_types=_instance_types(job),
        locked=lock.names if lock else {},
    )
    if named is None or _lacks_its_own_region(job, image):
        return job, None
    if not isinstance(named.uri, str):
        return job, named
    whole = replace(image, base=named.uri) if isinstance(image, BuiltImage) else replace(image, uri=named.uri)
    return replace(job, image=whole), named


def _path(image: BuiltImage | ExistingImage) -> Path:
    return ("image", "base") if isinstance(image, BuiltImage) else ("image",)


def _instance_types(job: JobSpec) -> list[str]:
    if job.hosts is None:
        return []
    types = [job.hosts.instance_type, *(group.instance_type for group in job.hosts.groups)]
    return [kind for kind in types if kind]


def _lacks_its_own_region(job: JobSpec, image: BuiltImage | ExistingImage) -> bool:
    """Return whether the URI of the built image needs the missing region too, which is reported there."""
    return not job.region and isinstance(image, BuiltImage) and not names_registry(image.repository or "")
