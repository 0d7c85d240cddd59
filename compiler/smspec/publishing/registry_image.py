"""One image in its registry: whether it is there, and whether SageMaker can start it."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

from smspec.publishing.permissions import allowing_statement
from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed, UnusableImage
from smspec.publishing.remote_image import PATIENCE_SECONDS, RemoteImage, WrongImage
from smspec.publishing.user_login import user_login
from smspec.registry.manifest import Manifest
from smspec.registry.session import NotFound, RegistryDenied
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.submission.aws_errors import ActionDenied, AwsUnavailable, denied_action
from smspec.submission.ecr import USER, EcrRegistry, ecr_registry
from smspec.wire.fault import WireFault


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
        return RemoteImage(self._reference, self._logins.header(self._reference), patience=self._patience)

    def _check(self, manifest: Manifest, history: str) -> None:
        try:
            self._remote.check(manifest, self._job.image.platform)
        except WrongImage as wrong:
            raise UnusableImage(
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
        found = self._remote.found()
        if isinstance(found, NotFound):
            raise PublishFailed(3, f"`{self._job.image.uri}` was pushed, but its registry does not have it")
        if printed and printed != found.digest:
            raise PublishFailed(
                3, f"`{self._job.image.uri}` was pushed as {printed}, but its registry has {found.digest}"
            )
        self._check(found, " was pushed, but" if is_new else "")
        return PublishedImage(uri=self._job.image.uri, status="pushed" if is_new else "present", digest=found.digest)
