"""The pinned versions of a repository: ``smspec.lock`` as a value."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from smspec.source.frozen import dataclass, field
from smspec.spec.locked_environment import LockedEnvironment

NAME = "smspec.lock"
VERSION = 1
"""The version of the file format."""

PYTHON = r"3\.[0-9]{1,2}(?:\.[0-9]{1,2}(?:(?:a|b|rc)[0-9]{1,2})?)?"
"""A version of Python in a lock."""


def content_digest(content: bytes) -> str:
    """Return the digest of a requirements file that a lock contains."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """``images``: reference as specs write it → digest. ``requirements``: file, from the lock → SHA-256 of its bytes.

    ``names``: short name of an image, with the region → its URI. ``pythons``: base image whose tag does not show its
    Python → the version in its config. ``environments``: key → the packages of an image.
    ``smspec``, ``api_model``, and ``image_table`` are the version, and the dates of the pinned API model and of the
    table of images, that the lock was made with.
    """

    names: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    pythons: dict[str, str] = field(default_factory=dict)
    requirements: dict[str, str] = field(default_factory=dict)
    environments: Mapping[str, LockedEnvironment] = field(default_factory=dict)
    smspec: str = ""
    api_model: str = ""
    image_table: str = ""

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
