"""Names made from content: the same content has the same name on every machine."""

from __future__ import annotations

import hashlib
import json

from smspec.service.partitions import dns_suffix
from smspec.source.memo import ByIdentity
from smspec.spec.model import BuiltImage, JobSpec, names_registry

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_ENCODED: ByIdentity[str] = ByIdentity()
_JOB_DIGITS = 10


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
