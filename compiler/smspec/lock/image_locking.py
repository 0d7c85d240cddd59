"""Lock images: what to ask a registry, the digest of a tag and the Python of its image, and the next lock.

The image must be for the platforms of the jobs. Amazon ECR needs credentials.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from smspec.registry.repository import ImageRepository, host_and_name
from smspec.service.image_reference import ImageReference
from smspec.source.frozen import replace
from smspec.spec.lock import VERSION, Lock
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


def to_ask(lock: Lock, images: Iterable[str], given: Container[str], *, update: bool) -> tuple[str, ...]:
    """Return the images whose registries to query: those not given and, unless ``update``, not pinned."""
    return tuple(i for i in dict.fromkeys(images) if i not in given and (update or i not in lock.images))


def locked(
    lock: Lock,
    images: Mapping[str, str],
    requirements: Mapping[str, str],
    names: Mapping[str, str] | None = None,
    pythons: Mapping[str, str] | None = None,
) -> Lock:
    """Return the lock with these digests, and these URIs of short names, in addition to what it already pins.

    A different digest may be of an image with a different Python: only ``pythons`` has its version then.
    """
    kept = {
        image: known for image, known in lock.pythons.items() if images.get(image) in (None, lock.images.get(image))
    }
    return replace(
        lock,
        names={**lock.names, **(names or {})},
        images={**lock.images, **images},
        pythons={**kept, **(pythons or {})},
        requirements={**lock.requirements, **requirements},
    )


def lock_text(lock: Lock) -> str:
    """Return the content of the lock file: reproducible, and a change of one entry changes one line."""
    content = {
        "lock": VERSION,
        "smspec": lock.smspec,
        "api_model": lock.api_model,
        **({"locked": lock.locked} if lock.locked else {}),
        **({"image_table": lock.image_table, "names": dict(sorted(lock.names.items()))} if lock.names else {}),
        "images": dict(sorted(lock.images.items())),
        **({"pythons": dict(sorted(lock.pythons.items()))} if lock.pythons else {}),
        "requirements": dict(sorted(lock.requirements.items())),
        **_environments(lock),
    }
    return json.dumps(content, indent=2) + "\n"


def _environments(lock: Lock) -> dict[str, object]:
    """Return the section of the environments; none without any, so that a lock of images stays as it is."""
    found = {
        key: {
            "base": one.base,
            "platform": one.platform,
            "python": one.python,
            "packages": dict(sorted(one.packages.items())),
            "modules": sorted(one.modules),
            "unlisted": sorted(one.unlisted),
            "digest": one.digest,
            "resolver": one.resolver,
        }
        for key, one in sorted(lock.environments.items())
    }
    return {"environments": found} if found else {}
