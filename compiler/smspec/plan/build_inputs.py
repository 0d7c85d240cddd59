"""The inputs of a plan besides the spec: the files that are sent, and the digests of the templates and the runtime."""

from __future__ import annotations

from smspec.source.frozen import dataclass
from smspec.source.listing import Listing
from smspec.spec.lock import Lock
from smspec.spec.locked_environment import LockedEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededEnvironment:
    """The packages that an image needs, under the ``key`` of their environment.

    ``locked``: its entry in the lock; None without one. ``content``: of its requirements file with hashes; None if that
    cannot be used, for the reason in ``fault``, which ends a sentence about the file.
    """

    key: str
    locked: LockedEnvironment | None = None
    content: bytes | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupPackages:
    """The ``content`` of requirements.txt in the source, which a job installs at startup.

    ``included``: the files of the source that it leads to, by their paths there, as far as they can be read;
    ``too_large``: those that are too large. ``unseen``: files, each with its first line that may lead elsewhere.
    ``environment``: what the lock has of it, besides the packages of the image; None if that is unknown.
    """

    content: bytes
    included: tuple[tuple[str, bytes], ...] = ()
    too_large: tuple[str, ...] = ()
    unseen: tuple[tuple[str, int], ...] = ()
    environment: NeededEnvironment | None = None

    @property
    def locked(self) -> LockedEnvironment | None:
        """The packages that the lock has."""
        return None if self.environment is None else self.environment.locked


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInputs:
    """``templates`` is the digest of the templates; ``requirements`` the content of `python_requirements`.

    ``lock`` is the lock of the repository, None without one; ``requirements_name`` the file's name in it;
    ``environment`` the environment of the image, None if it needs none, the lock has none, or it is unknown.
    ``startup``: the list of packages in the source, None without one; it is no part of a plan.
    """

    source: Listing
    runtime: Listing
    templates: str
    requirements: bytes | None = None
    requirements_name: str = ""
    lock: Lock | None = None
    environment: NeededEnvironment | None = None
    startup: StartupPackages | None = None

    @property
    def locked_environment(self) -> LockedEnvironment | None:
        """The packages that the lock has for the image."""
        return None if self.environment is None else self.environment.locked
