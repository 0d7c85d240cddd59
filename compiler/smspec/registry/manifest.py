"""Parse the response of a registry for an image: a Docker or OCI manifest or index, for a platform.

A digest in a header proves nothing, because a login page may have one: the manifest itself is read, although registries
count that as a pull.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from smspec.service.image_reference import DIGEST
from smspec.spec.lock import PYTHON
from smspec.wire.fault import BadResponse
from smspec.wire.json_body import member, object_body, word

INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
MANIFESTS = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
ACCEPTED = ", ".join((*INDEXES, *MANIFESTS))
_CONFIGS = ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json")

_UNKNOWN = "unknown"  # for what is stored next to images, such as attestations
_SAME = {"arm64/v8": "arm64", "x86_64": "amd64", "aarch64": "arm64"}
_TYPE = r"[!-~]{1,255}"
_MOST_SHOWN = 8
_OTHER_PYTHON = re.compile(r"conda|mamba|pyenv|pypy")


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob that a manifest refers to: its digest and its size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class ImageLayer:
    """A layer of an image: its blob and its media type."""

    blob: Blob
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest or index of a tag. ``images``: of an index, platforms and manifests; None if one has no platform.

    ``config``: of a manifest, the blob with its platform. ``layers``: of a manifest, the lowest first.
    """

    digest: str
    media_type: str
    images: tuple[tuple[str, Blob], ...] | None = None
    config: Blob | None = None
    layers: tuple[ImageLayer, ...] = ()

    @property
    def platforms(self) -> tuple[str, ...] | None:
        """The platforms of an index."""
        return None if self.images is None else tuple(dict.fromkeys(platform for platform, _ in self.images))


def read_manifest(content: bytes, media_type: str, named: str) -> Manifest:
    """Return the parsed response of a registry with a Content-Type and, unless it is empty, the digest ``named``.

    Raise `BadResponse` unless it is a manifest or an index with this digest.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind not in INDEXES + MANIFESTS:
        raise BadResponse(f"the response is {f'`{kind[:80]}`' if kind else 'untyped'}, not an image manifest")
    digest = _digest(content)
    if named and named != digest:
        raise BadResponse(f"the response has the digest `{digest}`, but its Docker-Content-Digest is `{named[:80]}`")
    root = object_body(content)
    if member(root, "schemaVersion", int) != 2 or root.get("mediaType", kind) != kind:
        raise BadResponse("the response does not match its Content-Type")
    # A document that is both could be parsed as either.
    if ("manifests" in root) == ("layers" in root) or ("manifests" in root) != (kind in INDEXES):
        raise BadResponse("the response is not an image manifest or image index")
    if kind in INDEXES:
        return Manifest(digest=digest, media_type=kind, images=_images(root))
    descriptor = member(root, "config", dict)
    config = _blob(descriptor)
    layers = [ImageLayer(_blob(layer), str(layer["mediaType"])) for layer in member(root, "layers", list)]
    config_type = word(descriptor, "mediaType", _TYPE)
    if config_type not in _CONFIGS:
        raise BadResponse(f"it is not a container image: its config is `{config_type[:80]}`")
    return Manifest(digest=digest, media_type=kind, config=config, layers=tuple(layers))


def config_members(content: bytes, blob: Blob) -> dict[str, object]:
    """Return the members of the config of an image. Raise `BadResponse` unless it is the blob of the manifest."""
    if len(content) != blob.size or _digest(content) != blob.digest:
        raise BadResponse("the image config does not match the digest in its manifest")
    return object_body(content)


def config_platform(content: bytes, blob: Blob) -> str:
    """Return the platform in the config of an image, empty if there is none.

    Raise `BadResponse` unless it is the blob of the manifest.
    """
    return _platform(config_members(content, blob))


def config_python(content: bytes, blob: Blob) -> str:
    """Return the version of Python in the config of an image, as Docker's official images set it; empty without one.

    Raise `BadResponse` unless it is the blob of the manifest.
    """
    settings = config_members(content, blob).get("config")
    listed = settings.get("Env") if isinstance(settings, dict) else None
    words = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    variables = {name: value for name, _, value in (word.partition("=") for word in words)}
    version = variables.get("PYTHON_VERSION", "")
    # An image that adds a Python to the official one keeps the variables of the latter.
    is_another = "PYTHON_SHA256" in variables and _OTHER_PYTHON.search(
        variables.get("PATH", "").partition("/usr/local/bin")[0]
    )
    return version if re.fullmatch(PYTHON, version) and not is_another else ""


def image_for(manifest: Manifest, platform: str) -> Blob | None:
    """Return the manifest of the first image for a platform in an index; None if it has none."""
    found = manifest.images or ()
    return next((blob for each, blob in found if has_platform((each,), platform)), None)


def has_platform(platforms: tuple[str, ...], wanted: str) -> bool:
    """Return whether one of the platforms matches ``wanted``; without a variant there, any variant matches."""
    plain = _plain(wanted)
    return any(_plain(each) == plain or each.startswith(f"{plain}/") for each in platforms)


def shown(platforms: tuple[str, ...]) -> str:
    """Return platforms for a message."""
    more = f", and {len(platforms) - _MOST_SHOWN} more" if len(platforms) > _MOST_SHOWN else ""
    return ", ".join(platforms[:_MOST_SHOWN]) + more if platforms else "no image"


def _images(root: dict[str, object]) -> tuple[tuple[str, Blob], ...] | None:
    found = []
    for entry in member(root, "manifests", list):
        blob = _blob(entry)
        found.append((_platform(member(entry, "platform", dict)) if "platform" in entry else "", blob))
    if any(not platform for platform, _ in found):
        return None
    return tuple((platform, blob) for platform, blob in found if not platform.startswith(_UNKNOWN))


def _platform(holder: dict[str, object]) -> str:
    """Return a platform in the notation of a spec; empty if it is incomplete."""
    system, architecture, variant = (
        word(holder, name, r"[A-Za-z0-9._-]{0,64}") if name in holder else ""
        for name in ("os", "architecture", "variant")
    )
    if not system or not architecture:
        return ""
    return f"{system}/{architecture}/{variant}" if variant else f"{system}/{architecture}"


def _plain(platform: str) -> str:
    """Return a platform with the name that registries use, without a variant if there is only one."""
    system, _, architecture = platform.partition("/")
    return f"{system}/{_SAME.get(architecture, architecture)}"


def _blob(descriptor: object) -> Blob:
    word(descriptor, "mediaType", _TYPE)
    size = member(descriptor, "size", int)
    digest = word(descriptor, "digest", DIGEST)
    if size < 0:
        raise BadResponse("`size` is negative")
    return Blob(digest, size)


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
