"""The decisions about a job: one plan for the image, one for the run, one for the request.

`make_plan` takes a `JobSpec` and the digests of the files it names, and returns a `Plan`. Its `ImagePlan` is the
content of the image, with a tag that is the digest of this content; its `RunPlan` is how the runtime starts the script;
its `RequestPlan` is the request, and for each member the key that it comes from, so that a finding about the request is
shown at the line of the spec. Most keys become members by their row in `smspec.spec.keys`; the rest have functions.

Everything is decided here, so that `smspec.render` only writes it down and a review compares plans, not texts. The
package reads no file. It must not know the output formats, and not whether the job is right: `smspec.rules` and
`smspec.service` check it.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Literal

from smspec.diagnostics import Finding
from smspec.service.arns import dns_suffix
from smspec.source import Listing, Path
from smspec.source.frozen import ByIdentity, dataclass, field, replace
from smspec.spec.lock import Lock, LockedEnvironment
from smspec.spec.model import BuildSteps, BuiltImage, ExistingImage, JobSpec, Queue, names_registry
from smspec_runtime.run_plan import RunPlan, RunSettings

if TYPE_CHECKING:
    from smspec.service.image_names import NamedImage


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

_ENCODED: ByIdentity[str] = ByIdentity()

_JOB_DIGITS = 10

USUAL_BASES = ("python:", "debian:", "ubuntu:", "amazonlinux:", "buildpack-deps:")
"""Bases of most images, which are of Docker Hub and no names of images of AWS: the table need not be read."""


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


def with_image_uri(job: JobSpec, lock: Lock | None) -> tuple[JobSpec, NamedImage | None]:
    """Return the job with a URI instead of a short name, and what the name stands for; None if there is no name.

    A name without an image stays as it is.
    """
    image = job.image
    text = image.base if isinstance(image, BuiltImage) else image.uri if image else ""
    if image is None or "/" in text or "@" in text or text.startswith(USUAL_BASES):
        return job, None
    # Imported late: most images have a registry.
    from smspec.service.image_names import named_image

    named = named_image(
        _path(image),
        text,
        region=job.region,
        instance_types=_instance_types(job),
        locked=lock.names if lock else {},
    )
    if named is None or _lacks_its_own_region(job, image):
        return job, None
    if not isinstance(named.uri, str):
        return job, named
    whole = replace(image, base=named.uri) if isinstance(image, BuiltImage) else replace(image, uri=named.uri)
    return replace(job, image=whole), named


def _path(image: BuiltImage | ExistingImage) -> Path:
    return ("image", "base") if isinstance(image, BuiltImage) else ("image",)


def _instance_types(job: JobSpec) -> list[str]:
    if job.hosts is None:
        return []
    types = [job.hosts.instance_type, *(group.instance_type for group in job.hosts.groups)]
    return [kind for kind in types if kind]


def _lacks_its_own_region(job: JobSpec, image: BuiltImage | ExistingImage) -> bool:
    """Return whether the URI of the built image needs the missing region too, which is reported there."""
    return not job.region and isinstance(image, BuiltImage) and not names_registry(image.repository or "")


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

    ``queue``: of AWS Batch, which starts the job; None if SageMaker does at once.
    ``others`` are the requests of the alternatives after the first, whose request is ``request``; the rest is the same.
    """

    name: str
    image: ImagePlan | None
    run: RunPlan | None
    settings: RunSettings | None
    request: RequestPlan
    uploads: tuple[Upload, ...] = ()
    queue: Queue | None = None
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

    ``included``: the files of the source that it leads to, by their paths there, as far as they can be read;
    ``too_large``: those that are too large. ``unseen``: files, each with its first line that may lead elsewhere;
    ``missing``: (file, line, list) of those that the source lacks.
    ``environment``: what the lock has of it, besides the packages of the image; None if that is unknown.
    """

    content: bytes
    included: tuple[tuple[str, bytes], ...] = ()
    too_large: tuple[str, ...] = ()
    unseen: tuple[tuple[str, int], ...] = ()
    missing: tuple[tuple[str, int, str], ...] = ()
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
