"""Build the images of jobs, and push them: each content once, and nothing that is there already."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.image import build_image, written_secrets
from smspec.local.python.build_secrets import secret_variables
from smspec.local.request import RunFailed
from smspec.publishing.engine_choice import chosen_engine
from smspec.publishing.permissions import allowing_statement
from smspec.publishing.private_login import private_login
from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed, PublishOptions
from smspec.publishing.pushing import PushRejected, TagExists, push_image
from smspec.publishing.remote_image import RemoteImage, WrongImage
from smspec.publishing.user_login import user_login
from smspec.registry.manifest import Manifest
from smspec.registry.repository import AccessDenied, NotFound
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.submission.aws_errors import ActionDenied, AwsUnavailable, denied_action
from smspec.submission.ecr import USER, EcrRegistry, ecr_registry
from smspec.wire.fault import WireFault
from smspec.workspace.git_labels import git_labels


def publish(images: Iterable[JobImage], options: PublishOptions) -> dict[str, PublishedImage]:
    """Build all images that are missing, and push them if that is requested; return them by URI. Raise PublishFailed.

    An image with the URI of an earlier one is the same image.
    """
    engine, logins = _Engine(options), _Logins(options.profile)
    published: dict[str, PublishedImage] = {}
    for image in images:
        if image.image.uri not in published:
            publication = _Push(image, engine, logins, options) if options.pushes else _Build(image, engine)
            published[image.image.uri] = publication.outcome()
    return published


def present(image: JobImage, profile: str | None) -> PublishedImage | None:
    """Return an image if its registry has it; it builds and pushes nothing. Raise PublishFailed."""
    return _InRegistry(image, _Logins(profile)).present()


class _Logins:
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


class _Engine:
    """The engine, chosen when an image is to be built; it builds all of them."""

    def __init__(self, options: PublishOptions) -> None:
        self._options = options
        self._count = 0

    @cached_property
    def client(self) -> Client:
        client = chosen_engine(self._options.engine)
        self._options.show(f"engine: {client.program}")
        return client

    def require(self) -> None:
        """Check that there is an engine, before anything is created. Raise PublishFailed."""
        assert self.client

    def build(self, job: JobImage) -> bool:
        """Build an image, unless the engine has it; return whether it was built."""
        self._count += 1
        directory = os.path.join(self._options.scratch_dir, f"secrets-{self._count}")
        os.makedirs(directory, 0o700)
        client, show = self.client, self._options.show
        try:
            values = secret_variables(job.secrets, os.environ, job.base_dir)
            return build_image(
                client,
                job.image,
                job.tree,
                secrets=written_secrets(values, job.image.secrets, directory),
                labels=git_labels(job.base_dir, job.files),
                show=show,
                is_verbose=self._options.is_verbose,
            )
        except RunFailed as fault:
            raise PublishFailed(fault.exit_status, f"{job.spec}: {fault}") from None


class _Build:
    """One image that the engine is to have."""

    def __init__(self, job: JobImage, engine: _Engine) -> None:
        self._job = job
        self._engine = engine

    def outcome(self) -> PublishedImage:
        return PublishedImage(uri=self._job.image.uri, status="built" if self._engine.build(self._job) else "present")


class _InRegistry:
    """One image that its registry has, or is to have."""

    def __init__(self, job: JobImage, logins: _Logins) -> None:
        reference = parsed_reference(job.image.uri)
        assert reference is not None  # the API model has been checked
        self._job = job
        self._logins = logins
        self._reference: ImageReference = reference

    def present(self) -> PublishedImage | None:
        """Return the image if its registry has it. Raise PublishFailed."""
        with self._explained():
            found = self._remote.found()
            if not isinstance(found, Manifest):
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
    def _remote(self) -> RemoteImage:
        if self._ecr is None:
            return RemoteImage(self._reference, user_login(self._reference.registry or "docker.io", os.environ))
        login = base64.b64encode(f"{USER}:{self._password}".encode()).decode()
        return RemoteImage(self._reference, f"Basic {login}")

    def _check(self, manifest: Manifest, history: str) -> None:
        try:
            self._remote.check(manifest, self._job.image.platform)
        except WrongImage as wrong:
            raise PublishFailed(
                3, f"`{self._job.image.uri}`{history} cannot run in SageMaker: {wrong}; delete the tag and push again"
            ) from None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert what the registry and AWS reject to `PublishFailed`, with the permission that is missing."""
        try:
            yield
        except ActionDenied as denied:
            raise PublishFailed(3, self._missing_permission(denied)) from None
        except AwsUnavailable as fault:
            raise PublishFailed(3, str(fault)) from None
        except AccessDenied as fault:
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


class _Push(_InRegistry):
    """One image that its registry is to have."""

    def __init__(self, job: JobImage, engine: _Engine, logins: _Logins, options: PublishOptions) -> None:
        super().__init__(job, logins)
        self._engine = engine
        self._options = options

    def outcome(self) -> PublishedImage:
        present = self.present()
        if present is not None:
            return present
        with self._explained():
            self._engine.require()
            if self._ecr is not None and not self._ecr.has_repository(self._reference.repository):
                self._create_repository(self._ecr)
            self._engine.build(self._job)
            printed, is_new = self._push()
            return self._verified(printed, is_new=is_new)

    def _create_repository(self, ecr: EcrRegistry) -> None:
        name = self._reference.repository
        if not self._job.settings.create:
            raise PublishFailed(
                3, f"cannot find the repository `{name}` in `{ecr.host}`, and smspec.toml has `registry.create = false`"
            )
        if ecr.create_repository(name, self._job.settings):
            self._options.show(f"created the repository {ecr.host}/{name}")

    def _push(self) -> tuple[str, bool]:
        """Push the image; return the digest that the client printed, if it did, and whether this was the push."""
        uri, options, client = self._job.image.uri, self._options, self._engine.client
        try:
            if self._ecr is None:
                return push_image(client, uri, options.show, is_verbose=options.is_verbose), True
            with private_login(client, self._ecr.host, USER, self._password, options.scratch_dir) as private:
                return push_image(private, uri, options.show, is_verbose=options.is_verbose), True
        except TagExists:
            return "", False
        except PushRejected as rejected:
            denied = denied_action(rejected.details)
            if denied is not None:
                raise denied from None
            help = "" if self._ecr else f"; log in with `{client.program} login`" if _is_denied(rejected) else ""
            raise PublishFailed(3, f"`{client.program} push` failed: {rejected}{help}") from None

    def _verified(self, printed: str, *, is_new: bool) -> PublishedImage:
        found = self._remote.found()
        if isinstance(found, NotFound):
            raise PublishFailed(3, f"`{self._job.image.uri}` was pushed, but its registry does not have it")
        if printed and printed != found.digest:
            raise PublishFailed(
                3, f"`{self._job.image.uri}` was pushed as {printed}, but its registry has {found.digest}"
            )
        self._check(found, " was pushed, but" if is_new else "")
        return PublishedImage(uri=self._job.image.uri, status="pushed" if is_new else "present", digest=found.digest)


def _is_denied(rejected: PushRejected) -> bool:
    return any(
        word in rejected.details.lower() for word in ("denied", "unauthorized", "no basic auth", "authentication")
    )
