"""What a registry has for a tag: nothing, or one image that SageMaker can start."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from smspec.registry.manifest import INDEXES, Manifest
from smspec.registry.repository import HUB, Busy, NotFound, Repository
from smspec.service.image_reference import ImageReference
from smspec.wire.fault import ConnectionBroken, WireFault

DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"

_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0)
"""Seconds before a registry that throttles or fails is asked again."""
_HUB_NAMES = (None, "docker.io", "index.docker.io")

Answer = TypeVar("Answer")


class WrongImage(Exception):
    """The registry has something else for the tag: the text says what."""


class RemoteImage:
    """The tag of an image in its registry. ``login``: an Authorization header for it."""

    def __init__(self, reference: ImageReference, login: str | None) -> None:
        self._host = HUB if reference.registry in _HUB_NAMES else str(reference.registry)
        self._reference = reference
        self._login = login

    def found(self) -> Manifest | NotFound:
        """Return the manifest of the tag, or that there is none. Raises `WireFault`."""
        try:
            return _persistently(lambda: self._repository().manifest(self._reference.tag or "latest"))
        except NotFound as missing:
            return missing

    def check(self, manifest: Manifest, platform: str) -> None:
        """Check that a manifest is one image for a platform, of Docker's media type. Raise `WrongImage`, `WireFault`.

        SageMaker starts no image of an index that contains attestations, which builders push by default.
        """
        if manifest.media_type in INDEXES:
            raise WrongImage(f"it is an index of images (`{manifest.media_type}`), not one image")
        if manifest.media_type != DOCKER_MANIFEST:
            raise WrongImage(f"its media type is `{manifest.media_type}`, not `{DOCKER_MANIFEST}`")
        try:
            _persistently(lambda: self._repository().require(manifest, platform))
        except WireFault as fault:
            raise WrongImage(str(fault)) from None

    def _repository(self) -> Repository:
        return Repository(self._host, self._reference.repository, login=self._login)


def _persistently(call: Callable[[], Answer]) -> Answer:
    for seconds in _PAUSES:
        try:
            return call()
        except (Busy, ConnectionBroken):
            time.sleep(seconds)
    return call()
