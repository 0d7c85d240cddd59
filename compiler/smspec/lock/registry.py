"""Query a registry for the digest of a tag, and the Python of its image; Amazon ECR needs credentials for it.

The image must be for the platforms of the jobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smspec.registry.repository import ImageRepository, host_and_name
from smspec.service.image_reference import ImageReference
from smspec.wire.fault import WireFault
from smspec.wire.json_body import member, typed, word

_BASE64 = r"[A-Za-z0-9+/]{1,16384}={0,2}"


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
    host, _ = host_and_name(reference)
    platforms = tuple(platforms)
    try:
        registry = ImageRepository(reference, authorization)
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


def ecr_authorization(region: str) -> str:
    """Return the authorization header for ECR, from the credentials that boto3 finds. Raise `NoDigest`."""
    # Imported late: few base images are in ECR, and boto3 takes half a second.
    from smspec.wire.aws import AwsSession, responses

    try:
        with responses(f"get access to Amazon ECR in {region}"):
            answer = AwsSession(region=region).client("ecr").get_authorization_token()
        found = member(answer, "authorizationData", list)
        token = word(typed(found[0] if found else None, dict, "`authorizationData`"), "authorizationToken", _BASE64)
        return f"Basic {token}"
    except WireFault as fault:
        raise NoDigest(f"Amazon ECR in {region}: {fault}") from None
