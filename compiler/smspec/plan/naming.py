"""Names made from content: the same content has the same name on every machine.

The short name of an image in a job, such as ``pytorch-training:2.5.1-gpu``, is replaced by the URI in its region.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from smspec.service.partitions import dns_suffix
from smspec.source import Path
from smspec.source.frozen import replace
from smspec.source.memo import ByIdentity
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage, ExistingImage, JobSpec, names_registry

if TYPE_CHECKING:
    from smspec.service.image_names import NamedImage

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_ENCODED: ByIdentity[str] = ByIdentity()
_JOB_DIGITS = 10

USUAL_BASES = ("python:", "debian:", "ubuntu:", "amazonlinux:", "buildpack-deps:")
"""Bases of most images, which are of Docker Hub and no names of images of AWS: the table need not be read."""


def digest(value: object) -> str:
    """Return the SHA-256 of a JSON value, independent of the order of its keys."""
    return hashlib.sha256(_CANONICAL.encode(value).encode()).hexdigest()


def training_job_name(name: str, payload: dict[str, object]) -> str:
    """Return the name of the job for a payload; its tags, and a name it already has, are ignored."""
    members = sorted(payload.keys() - {"TrainingJobName", "Tags"})
    content = ",".join(f"{_CANONICAL.encode(member)}:{_encoded(payload[member])}" for member in members)
    return f"{name}-{hashlib.sha256(f'{{{content}}}'.encode()).hexdigest()[:_JOB_DIGITS]}"


def _encoded(value: object) -> str:
    """Return a member of a request as JSON. Jobs share most of them."""
    return _ENCODED.of("", value, lambda: _CANONICAL.encode(value))


def repository(job: JobSpec, image: BuiltImage) -> str:
    """Return the repository of the image: the author's registry and path, else a repository in ECR of the account."""
    path = image.repository or job.name
    if names_registry(path):
        return path
    return f"{account(job)}.dkr.ecr.{job.region or ''}.{dns_suffix(job.region or '')}/{path}"


def account(job: JobSpec) -> str:
    """Return the account of the job: the one in the spec, else that of the role; empty if neither is set."""
    fields = job.role.split(":")
    return job.account or (fields[4] if len(fields) > 4 else "")


def s3_prefix(base: str, *parts: str) -> str:
    """Return the S3 prefix below ``base`` with these parts, ending in ``/``."""
    return "/".join((base.rstrip("/"), *parts, ""))


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
