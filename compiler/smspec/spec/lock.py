"""The pinned versions of a repository, ``smspec.lock``, as a value: images, files, and environments.

An environment has the packages that an image installs, resolved once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from smspec.source.frozen import dataclass, field

DIRECTORY = "smspec.lock.d"
"""The directory next to the lock: for each environment a requirements file with hashes."""

_INDEX_SETTINGS = ("PIP_", "UV_")

NAME = "smspec.lock"
VERSION = 1
"""The version of the file format."""

PYTHON = r"3\.[0-9]{1,2}(?:\.[0-9]{1,2}(?:(?:a|b|rc)[0-9]{1,2})?)?"
"""A version of Python in a lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedEnvironment:
    """``base``: the pinned base image. ``platform``: such as ``linux/amd64``. ``python``: such as ``3.11``.

    ``packages``: normalized name → version. ``modules``: what scripts can import from them, as ``numpy`` and, for a
    namespace, ``google.cloud``. ``unlisted``: the packages whose modules are unknown, because they have no wheel.
    ``digest``: of the requirements file with hashes. ``resolver``: the program that resolved them, and its version.
    """

    base: str
    platform: str
    python: str
    packages: Mapping[str, str]
    modules: tuple[str, ...]
    unlisted: tuple[str, ...]
    digest: str
    resolver: str


def environment_key(
    *,
    base: str,
    platform: str,
    packages: tuple[str, ...],
    requirements: bytes | None,
    variables: Mapping[str, str],
    used: Mapping[str, str | None] | None = None,
) -> str:
    """Return the key of the environment that a job needs: 16 hexadecimal digits, the name of its file without suffix.

    ``base``: the base image with its locked digest. ``requirements``: the content of the author's file, whose comments
    do not count. ``variables``: those of the build, of which the settings of pip and uv count. ``used``: its other
    variables and secrets that choose the packages, a secret without its value.
    """
    content: dict[str, object] = {
        "base": base,
        "platform": platform,
        "packages": packages,
        "requirements": None if requirements is None else list(_lines(requirements)),
        "settings": {name: text for name, text in sorted(variables.items()) if name.startswith(_INDEX_SETTINGS)},
    }
    if used:
        content["used"] = dict(used)
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()[:16]


def environment_file(key: str) -> str:
    """Return the path of an environment's requirements file, from the directory of the lock."""
    return f"{DIRECTORY}/{key}.txt"


def _lines(requirements: bytes) -> Iterator[str]:
    """Yield the lines that mean something; a `#` begins a comment where a space or nothing is before it, as for pip."""
    for line in requirements.decode("utf-8-sig", "surrogateescape").splitlines():
        text = "" if line.lstrip().startswith("#") else line.partition(" #")[0].partition("\t#")[0]
        if text.strip():
            yield text.strip()


def content_digest(content: bytes) -> str:
    """Return the digest of a requirements file that a lock contains."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """``images``: reference as specs write it → digest. ``requirements``: file, from the lock → SHA-256 of its bytes.

    ``names``: short name of an image, with the region → its URI. ``pythons``: base image whose tag does not show its
    Python → the version in its config. ``environments``: key → the packages of an image.
    ``smspec``, ``api_model``, and ``image_table`` are the version, and the dates of the pinned API model and of the
    table of images, that the lock was made with; ``locked`` is the date when what it pins last changed.
    """

    names: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    pythons: dict[str, str] = field(default_factory=dict)
    requirements: dict[str, str] = field(default_factory=dict)
    environments: Mapping[str, LockedEnvironment] = field(default_factory=dict)
    smspec: str = ""
    api_model: str = ""
    image_table: str = ""
    locked: str = ""

    def pinned(self, reference: str) -> str:
        """Return a reference with its locked digest; unchanged if it has a digest, or none is locked."""
        digest = None if "@" in reference else self.images.get(reference)
        return reference if digest is None else f"{reference}@{digest}"

    def sent(self, uri: str) -> str:
        """Return the URI to send for an existing image: that of a short name with its locked digest instead of the tag.

        SageMaker accepts only one of the two.
        """
        digest = self.images.get(uri) if uri in self.names.values() else None
        return uri if digest is None else f"{uri.rpartition(':')[0]}@{digest}"
