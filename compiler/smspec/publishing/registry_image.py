"""Images in their registries: whether that of a job is there, whether SageMaker can start it, and its base.

Of a base, the config and the layers are used as they are, and never unpacked.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from smspec.plan import ImagePlan, Plan
from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed, UnusableImage
from smspec.publishing.user_login import user_login
from smspec.registry.manifest import INDEXES, Blob, ImageLayer, Manifest
from smspec.registry.repository import ImageRepository
from smspec.registry.session import Busy, NotFound, RegistryDenied
from smspec.render.iam.submitter import submitter_policy
from smspec.service.image_python import locked_python, python_of_image
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.submission.client import ActionDenied, Answer, AwsUnavailable, denied_action, persistently
from smspec.submission.ecr import USER, EcrRegistry, ecr_registry
from smspec.wire.fault import BadResponse, ConnectionBroken, WireFault

DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"

PATIENCE_SECONDS = 60.0
"""How long a registry that throttles or fails is asked again."""

GZIP = "application/vnd.docker.image.rootfs.diff.tar.gzip"
TAR = "application/vnd.docker.image.rootfs.diff.tar"
_DOCKER_TYPES = {
    GZIP: GZIP,
    TAR: TAR,
    "application/vnd.oci.image.layer.v1.tar+gzip": GZIP,
    "application/vnd.oci.image.layer.v1.tar": TAR,
}
"""Media type → the type of the same bytes in a manifest of Docker, which SageMaker requires; zstd has none."""

_LARGEST_LAYER = 52_000 << 20
"""Bytes: the quota of Amazon ECR. docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html"""

_OLDEST_PYTHON = (3, 8)


class Logins:
    """The registries of ECR that images are in, and a password of each. Its methods raise `AwsUnavailable`."""

    def __init__(self, profile: str | None) -> None:
        self._profile = profile
        self._registries: dict[str | None, EcrRegistry | None] = {}
        self._passwords: dict[str, str] = {}

    def registry(self, reference: ImageReference) -> EcrRegistry | None:
        if reference.registry not in self._registries:
            self._registries[reference.registry] = ecr_registry(reference, self._profile)
        return self._registries[reference.registry]

    def password(self, registry: EcrRegistry) -> str:
        if registry.host not in self._passwords:
            self._passwords[registry.host] = registry.password()
        return self._passwords[registry.host]

    def header(self, reference: ImageReference) -> str | None:
        """Return the Authorization header for a registry, of ECR or with the user's own login; None without one."""
        ecr = self.registry(reference)
        if ecr is None:
            return user_login(reference.registry or "docker.io", os.environ)
        return f"Basic {base64.b64encode(f'{USER}:{self.password(ecr)}'.encode()).decode()}"


class ImageInRegistry:
    """One image that its registry has, or is to have. ``patience``: seconds to ask a registry that is busy or gone."""

    def __init__(self, job: JobImage, logins: Logins, *, patience: float = PATIENCE_SECONDS) -> None:
        reference = parsed_reference(job.image.uri)
        assert reference is not None  # the API model has been checked
        self._job = job
        self._logins = logins
        self._patience = patience
        self._reference: ImageReference = reference

    def present(self) -> PublishedImage | None:
        """Return the image if its registry has it. Raise PublishFailed."""
        with self._explained():
            found = self._manifest()
            if found is None:
                return None
            self._check(found, "")
            return PublishedImage(uri=self._job.image.uri, status="present", digest=found.digest)

    @cached_property
    def _ecr(self) -> EcrRegistry | None:
        return self._logins.registry(self._reference)

    @property
    def _password(self) -> str:
        assert self._ecr is not None
        return self._logins.password(self._ecr)

    @cached_property
    def _login(self) -> str | None:
        return self._logins.header(self._reference)

    def _manifest(self) -> Manifest | None:
        """Return the manifest of the tag, or None. Raise `WireFault`."""
        tag = self._reference.tag or "latest"
        try:
            return patiently(lambda: ImageRepository(self._reference, login=self._login).manifest(tag), self._patience)
        except NotFound:
            return None

    def _check(self, manifest: Manifest, history: str) -> None:
        fault = self._fault_of(manifest)
        if fault:
            raise UnusableImage(
                3, f"`{self._job.image.uri}`{history} cannot run in SageMaker: {fault}; delete the tag and push again"
            )

    def _fault_of(self, manifest: Manifest) -> str:
        """Return why a manifest is not one image for the platform of the job, of Docker's media type; empty if it is.

        SageMaker starts no image of an index that contains attestations, which builders push by default.
        """
        if manifest.media_type in INDEXES:
            return f"it is an index of images (`{manifest.media_type}`), not one image"
        if manifest.media_type != DOCKER_MANIFEST:
            return f"its media type is `{manifest.media_type}`, not `{DOCKER_MANIFEST}`"
        platform = self._job.image.platform
        try:
            patiently(
                lambda: ImageRepository(self._reference, login=self._login).require(manifest, platform), self._patience
            )
        except WireFault as fault:
            return str(fault)
        return ""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert what the registry and AWS reject to `PublishFailed`, with the permission that is missing."""
        try:
            yield
        except ActionDenied as denied:
            raise PublishFailed(3, self._missing_permission(denied)) from None
        except AwsUnavailable as fault:
            raise PublishFailed(3, str(fault)) from None
        except RegistryDenied as fault:
            missing = denied_action(fault.reason)
            if missing is not None:
                raise PublishFailed(3, self._missing_permission(missing)) from None
            host = self._reference.registry or "docker.io"
            help = "" if self._ecr else f"; log in with `docker login {host}`"
            raise PublishFailed(3, f"cannot read `{self._job.image.uri}`: {fault}{help}") from None
        except WireFault as fault:
            raise PublishFailed(3, f"cannot read `{self._job.image.uri}`: {fault}") from None

    def _missing_permission(self, denied: ActionDenied) -> str:
        statement = allowing_statement(self._job.plan, self._job.region, denied.action)
        if not statement:
            return str(denied)
        policy = f"smspec render {self._job.spec} --iam-policy=submitter"
        return f"{denied}; the statement `{statement}` of `{policy}` allows it"

    def _require_repository(self, show: Callable[[str], None]) -> None:
        """Create the repository in ECR if it is missing. Raise PublishFailed."""
        if self._ecr is not None and not self._ecr.has_repository(self._reference.repository):
            self._create_repository(self._ecr, show)

    def _create_repository(self, ecr: EcrRegistry, show: Callable[[str], None]) -> None:
        name = self._reference.repository
        if not self._job.settings.create:
            raise PublishFailed(
                3, f"cannot find the repository `{name}` in `{ecr.host}`, and smspec.toml has `registry.create = false`"
            )
        if ecr.create_repository(name, self._job.settings):
            show(f"created the repository {ecr.host}/{name}")

    def _verified(self, printed: str, *, is_new: bool) -> PublishedImage:
        found = self._manifest()
        if found is None:
            raise PublishFailed(3, f"`{self._job.image.uri}` was pushed, but its registry does not have it")
        if printed and printed != found.digest:
            raise PublishFailed(
                3, f"`{self._job.image.uri}` was pushed as {printed}, but its registry has {found.digest}"
            )
        self._check(found, " was pushed, but" if is_new else "")
        return PublishedImage(uri=self._job.image.uri, status="pushed" if is_new else "present", digest=found.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """``layers`` have media types of Docker."""

    config: dict[str, object]
    layers: tuple[ImageLayer, ...]
    reference: str
    repository: ImageRepository

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield a layer in parts, verified. Raise PublishFailed."""
        try:
            yield from self.repository.chunks(blob, patiently)
        except WireFault as fault:
            raise _unreadable(self.reference, fault) from None


def patiently(call: Callable[[], Answer], patience: float = PATIENCE_SECONDS) -> Answer:
    """Return what a call to a registry returns, after as many attempts as time allows. Raises `WireFault`."""
    return persistently(call, passes=lambda fault: isinstance(fault, (Busy, ConnectionBroken)), budget=patience)


def allowing_statement(plan: Plan, region: str | None, action: str) -> str:
    """Return the Sid of the statement that allows an action; empty if none does."""
    document = json.loads(submitter_policy(plan, region).text)["PolicyDocument"]
    return next((str(each["Sid"]) for each in document["Statement"] if action in each["Action"]), "")


def read_base(image: ImagePlan, logins: Logins) -> Base:
    """Return the base that an image names with its digest. Raise PublishFailed."""
    reference = parsed_reference(image.base)
    assert reference is not None and reference.digest is not None  # `obstacle` has checked it
    try:
        repository, manifest = patiently(lambda: _found(reference, image.platform, logins))
        config, listed_python = repository.config(manifest), repository.python(manifest, image.platform)
    except WireFault as fault:
        raise _unreadable(image.base, fault) from None
    except (ActionDenied, AwsUnavailable) as fault:
        raise PublishFailed(3, f"cannot read the base `{image.base}`: {fault}") from None
    _check_python(image, listed_python)
    layers = tuple(_of_docker(layer, image.base) for layer in manifest.layers)
    return Base(config=config, layers=layers, reference=image.base, repository=repository)


def _found(reference: ImageReference, platform: str, logins: Logins) -> tuple[ImageRepository, Manifest]:
    """Return the image of a base for a platform, with its repository, which then has its config. Raise `WireFault`."""
    repository = ImageRepository(reference, login=logins.header(reference))
    listed = repository.manifest(str(reference.digest))
    if listed.digest != reference.digest:
        raise BadResponse("the image does not match its digest")
    repository.require(listed, platform)
    manifest = repository.image(listed, platform)
    if manifest is None:
        raise BadResponse(f"the image is not for {platform}")
    repository.require(manifest, platform)
    return repository, manifest


def _of_docker(layer: ImageLayer, reference: str) -> ImageLayer:
    if layer.media_type not in _DOCKER_TYPES:
        raise PublishFailed(
            1,
            f"the base `{reference}` has a layer of type `{layer.media_type[:100]}`, which an image for SageMaker"
            " cannot have; build the image with an engine",
        )
    if layer.blob.size > _LARGEST_LAYER:
        raise PublishFailed(3, f"the base `{reference}` has a layer of {layer.blob.size:,} bytes")
    return ImageLayer(layer.blob, _DOCKER_TYPES[layer.media_type])


def _check_python(image: ImagePlan, listed: str) -> None:
    """Check that the base has the Python of the entrypoint, as the Dockerfile does by running it."""
    found = locked_python(listed) or locked_python(image.python) or python_of_image(image.base)
    if found is None:
        raise PublishFailed(
            1,
            f"the Python of the base `{image.base}` is unknown: neither its name nor its config shows it"
            " (`PYTHON_VERSION`), and `--engine none` runs nothing; build the image with an engine",
        )
    if found < _OLDEST_PYTHON:
        raise PublishFailed(
            1, f"the base `{image.base}` has Python {found[0]}.{found[1]}; the entrypoint needs Python 3.8 or later"
        )


def _unreadable(reference: str, fault: WireFault) -> PublishFailed:
    return PublishFailed(3, f"cannot read the base `{reference}`: {fault}")
