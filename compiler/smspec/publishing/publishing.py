"""Build the images of jobs, and push them: each content once, and nothing that is there already."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.image import build_image, written_secrets
from smspec.local.python.build_secrets import secret_variables
from smspec.local.request import RunFailed
from smspec.publishing.assembled.publishing import archived, pushed
from smspec.publishing.engine_choice import chosen_engine
from smspec.publishing.engine_names import NO_ENGINE
from smspec.publishing.private_login import private_login
from smspec.publishing.publication import JobImage, PublishedImage, PublishFailed, PublishOptions
from smspec.publishing.pushing import PushRejected, TagExists, push_image
from smspec.publishing.registry_image import ImageInRegistry, Logins
from smspec.submission.aws_errors import denied_action
from smspec.submission.ecr import USER
from smspec.workspace.git_labels import git_labels


def publish(images: Iterable[JobImage], options: PublishOptions) -> dict[str, PublishedImage]:
    """Build all images that are missing, and push them if that is requested; return them by URI. Raise PublishFailed.

    An image with the URI of an earlier one is the same image.
    """
    engine, logins = _Engine(options), Logins(options.profile)
    published: dict[str, PublishedImage] = {}
    for image in images:
        if image.image.uri not in published:
            published[image.image.uri] = _published(image, engine, logins, options)
    return published


def _published(job: JobImage, engine: _Engine, logins: Logins, options: PublishOptions) -> PublishedImage:
    if options.engine == NO_ENGINE:
        return pushed(job, logins, options) if options.pushes else archived(job, logins, options.show)
    publication = _Push(job, engine, logins, options) if options.pushes else _Build(job, engine)
    return publication.outcome()


def present(image: JobImage, profile: str | None, *, patience: float) -> PublishedImage | None:
    """Return an image if its registry has it; it builds and pushes nothing. Raise PublishFailed."""
    return ImageInRegistry(image, Logins(profile), patience=patience).present()


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
            values = secret_variables(job.authored.secrets, os.environ, job.base_dir)
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


class _Push(ImageInRegistry):
    """One image that its registry is to have."""

    def __init__(self, job: JobImage, engine: _Engine, logins: Logins, options: PublishOptions) -> None:
        super().__init__(job, logins)
        self._engine = engine
        self._options = options

    def outcome(self) -> PublishedImage:
        with self._options.waits(f"the registry of `{self._job.image.uri}`"):
            present = self.present()
        if present is not None:
            return present
        with self._explained():
            self._engine.require()
            self._require_repository(self._options.show)
            self._engine.build(self._job)
            printed, is_new = self._push()
            return self._verified(printed, is_new=is_new)

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


def _is_denied(rejected: PushRejected) -> bool:
    return any(
        word in rejected.details.lower() for word in ("denied", "unauthorized", "no basic auth", "authentication")
    )
