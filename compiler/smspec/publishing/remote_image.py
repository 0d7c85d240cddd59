"""What a registry has for a tag: nothing, or one image that SageMaker can start."""

from __future__ import annotations

from collections.abc import Callable

from smspec.registry.manifest import INDEXES, Manifest
from smspec.registry.repository import ImageRepository, host_and_name
from smspec.registry.session import Busy, NotFound
from smspec.service.image_reference import ImageReference
from smspec.submission.persistence import Answer, persistently
from smspec.wire.fault import ConnectionBroken, WireFault

DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"

PATIENCE_SECONDS = 60.0
"""How long a registry that throttles or fails is asked again."""


class WrongImage(Exception):
    """The registry has something else for the tag: the text says what."""


class RemoteImage:
    """The tag of an image in its registry. ``login``: an Authorization header for it.

    ``patience``: seconds to ask a registry that throttles or fails.
    """

    def __init__(self, reference: ImageReference, login: str | None, *, patience: float = PATIENCE_SECONDS) -> None:
        self._host, self._name = host_and_name(reference)
        self._tag = reference.tag or "latest"
        self._login = login
        self._patience = patience

    def found(self) -> Manifest | NotFound:
        """Return the manifest of the tag, or that there is none. Raises `WireFault`."""
        try:
            return patiently(lambda: self._repository().manifest(self._tag), self._patience)
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
            patiently(lambda: self._repository().require(manifest, platform), self._patience)
        except WireFault as fault:
            raise WrongImage(str(fault)) from None

    def _repository(self) -> ImageRepository:
        return ImageRepository(self._host, self._name, login=self._login)


def patiently(call: Callable[[], Answer], patience: float = PATIENCE_SECONDS) -> Answer:
    """Return what a call to a registry returns, after as many attempts as time allows. Raises `WireFault`."""
    return persistently(call, passes=lambda fault: isinstance(fault, (Busy, ConnectionBroken)), budget=patience)
