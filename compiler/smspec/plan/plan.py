"""The three plans of a job. They contain every decision; rendering only writes them to files.

Besides the spec, a plan is made from `BuildInputs`: the files that are sent, and the digests of the templates and the
runtime.
"""

from __future__ import annotations

from typing import Literal

from smspec.diagnostics import Finding
from smspec.source import Path
from smspec.source.frozen import dataclass, field, replace
from smspec.source.listing import Listing
from smspec.spec.lock import Lock, LockedEnvironment
from smspec.spec.model import BuildSteps
from smspec_runtime.run_plan import RunPlan, RunSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan(BuildSteps):
    """The content of the image, besides the files of source and runtime.

    ``python_requirements`` is the path, relative to the spec, of the author's file. ``tag`` identifies the content.
    ``secrets`` are available to the commands of the build only: the name of each, and whether it is a value or a file.
    ``adds_boto3``: the last of ``python_packages`` is boto3, which the author does not list and the runtime needs.
    ``environment`` is what the lock has instead of the author's packages and file, which are then not installed.
    ``python``: the version of Python that the lock has for a base whose tag shows none; empty if it has none.
    """

    base: str
    platform: str
    system_packages: tuple[str, ...]
    python_packages: tuple[str, ...]
    python_requirements: str | None
    env: dict[str, str]
    run: tuple[str, ...]
    labels: dict[str, str]
    secrets: dict[str, Literal["env", "file"]]
    title: str
    holds_source: bool
    needs_ssh: bool
    repository: str
    tag: str
    environment: LockedEnvironment | None = None
    python: str = ""
    user: str | None = None
    build_args: dict[str, str] = field(default_factory=dict)
    pre_install: tuple[str, ...] = ()
    env_prepend: dict[str, str] = field(default_factory=dict)
    adds_boto3: bool = False

    @property
    def uri(self) -> str:
        return f"{self.repository}:{self.tag}"

    @property
    def listed_packages(self) -> tuple[str, ...]:
        """The packages that the author lists."""
        return self.python_packages[:-1] if self.adds_boto3 else self.python_packages


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Files that must be in S3 before the job is created. ``kind``: the runtime or the source.

    ``archive``: one ``sourcedir.tar.gz``; otherwise the files themselves. ``uri`` is the prefix, ending in ``/``, or
    the object of an archive. ``kms_key`` None: the default encryption of the bucket.
    """

    kind: Literal["runtime", "source"]
    uri: str
    archive: bool
    kms_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlan:
    """The CreateTrainingJob request, members in the order of the API model, and the origin of each part.

    ``names`` are paths in the payload whose string is the name of a key in the spec. ``idle`` are paths in the spec of
    nulls in `api` that removed nothing from the payload.
    """

    payload: dict[str, object]
    origins: dict[Path, Path]
    names: frozenset[Path] = frozenset()
    idle: frozenset[Path] = frozenset()

    def origin(self, path: Path) -> Path:
        """Return the path in the spec that the payload's ``path`` comes from, or that of its nearest known ancestor."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        return ()

    def _has(self, path: Path) -> bool:
        value: object = self.payload
        for step in path:
            if isinstance(value, list) and isinstance(step, int):
                value = value[step]
                continue
            if not isinstance(value, dict) or step not in value:
                return False
            value = value[step]
        return True

    def at_origin(self, finding: Finding) -> Finding:
        """Return a finding about the payload as one about the spec."""
        origin = self.origin(finding.path)
        # A missing member has no key of its own in the spec.
        there = finding.renamed(origin) if origin and self._has(finding.path) else finding.moved(origin)
        return replace(there, on="key") if finding.path in self.names else there


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``image`` None: no image is built. ``run`` None: the smspec runtime is not used.

    ``others`` are the requests of the alternatives after the first, whose request is ``request``; the rest is the same.
    """

    name: str
    image: ImagePlan | None
    run: RunPlan | None
    settings: RunSettings | None
    request: RequestPlan
    uploads: tuple[Upload, ...] = ()
    others: tuple[RequestPlan, ...] = ()

    @property
    def requests(self) -> tuple[RequestPlan, ...]:
        """The requests of all alternatives in their order, of which one is to run; one without alternatives."""
        return (self.request, *self.others)

    @property
    def source_key(self) -> str | None:
        """The KMS key of the source and the runtime in S3: they have the same one, or none."""
        return next((upload.kms_key for upload in self.uploads), None)


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

    ``included``: the files of the source that it leads to, by their paths there, as far as they can be read.
    ``environment``: what the lock has of it, besides the packages of the image; None if that is unknown.
    """

    content: bytes
    included: tuple[tuple[str, bytes], ...] = ()
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
