"""Build the images of jobs, and push them: each content once, and nothing that is there already."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable
from functools import cached_property, partial

from smspec.local.engines.containers.client import Client, ClientFailed, unavailable
from smspec.local.engines.containers.image import build_image, written_secrets
from smspec.local.python.wanted import secret_variables
from smspec.local.running.request import RunFailed
from smspec.publishing.assembly import SUFFIX, AssembledImage, assembled, require_no_command, write_archive
from smspec.publishing.publication import ENGINES, NO_ENGINE, JobImage, PublishedImage, PublishFailed, PublishOptions
from smspec.publishing.registry_image import DOCKER_MANIFEST, ImageInRegistry, Logins, patiently
from smspec.publishing.user_login import private_login
from smspec.registry.manifest import ImageLayer
from smspec.registry.repository import ImageUpload
from smspec.registry.session import RegistryDenied
from smspec.submission.client import denied_action
from smspec.submission.ecr import USER
from smspec.wire.fault import BadResponse, WireFault
from smspec.workspace.git_labels import git_labels

_PAUSES = (2.0, 5.0, 15.0)
"""Seconds between attempts. The clients repeat single requests themselves."""

_TRANSIENT = re.compile(
    r"too ?many ?requests|rate exceeded|throttl|\b(?:429|50[0234])\b|time(?:d )?out|connection (?:reset|refused)"
    r"|broken pipe|\bEOF\b|temporarily|internal server error|service unavailable",
    re.IGNORECASE,
)
_EXISTS = re.compile(r"already exists in the .* repository and cannot be overwritten", re.DOTALL)
_LAYER = re.compile(r"([0-9a-f]{12}): (Preparing|Waiting|Pushed|Layer already exists|Mounted from .*)")
_DIGEST = re.compile(r"digest: (sha256:[0-9a-f]{64})\b")

Show = Callable[[str], None]


class _Engine:
    """The engine, chosen when an image is to be built; it builds all of them."""

    def __init__(self, options: PublishOptions) -> None:
        self._options = options
        self._count = 0

    @cached_property
    def client(self) -> Client:
        client = _chosen_engine(self._options.engine)
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


class _EnginePush(ImageInRegistry):
    """One image that its registry is to have, pushed by the client of an engine."""

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
                return _push_image(client, uri, options.show, is_verbose=options.is_verbose), True
            with private_login(client, self._ecr.host, USER, self._password, options.scratch_dir) as private:
                return _push_image(private, uri, options.show, is_verbose=options.is_verbose), True
        except _TagExists:
            return "", False
        except _PushRejected as rejected:
            denied = denied_action(rejected.details)
            if denied is not None:
                raise denied from None
            help = "" if self._ecr else f"; log in with `{client.program} login`" if _is_denied(rejected) else ""
            raise PublishFailed(3, f"`{client.program} push` failed: {rejected}{help}") from None


class _PushRejected(Exception):
    """The push failed for good; the text is the last line of the client. ``details``: the last few."""

    def __init__(self, text: str, details: str) -> None:
        super().__init__(text)
        self.details = details


class _TagExists(Exception):
    """The registry has the tag since a moment ago, and rejects a different image for it."""


class _Progress:
    """Counts the layers that a client reports."""

    def __init__(self, show: Callable[[str], None], *, is_verbose: bool) -> None:
        self.digest = ""
        self._show = show
        self._is_verbose = is_verbose
        self._layers: dict[str, bool] = {}

    def line(self, text: str) -> None:
        digest, layer = _DIGEST.search(text), _LAYER.fullmatch(text)
        if digest:
            self.digest = digest[1]
        if self._is_verbose:
            self._show(text)
        elif layer:
            is_over = not layer[2].startswith(("Preparing", "Waiting"))
            if is_over and not self._layers.get(layer[1]):
                self._layers[layer[1]] = True
                self._show(f"pushed {sum(self._layers.values())} of {len(self._layers)} layers")
            self._layers.setdefault(layer[1], is_over)
        elif text.startswith("Copying blob "):
            self._show(text[:60])


class _LayerPush(ImageInRegistry):
    """One image that its registry is to have, whose layers are sent without an engine."""

    def __init__(self, job: JobImage, logins: Logins, options: PublishOptions) -> None:
        super().__init__(job, logins)
        self._show, self._waits = options.show, options.waits

    def outcome(self) -> PublishedImage:
        with self._waits(f"the registry of `{self._job.image.uri}`"):
            present = self.present()
        if present is not None:
            return present
        self._show(f"reading the base {self._job.image.base}")
        image = assembled(self._job, self._logins, self._show)
        with self._explained():
            self._require_repository(self._show)
            is_new = self._send(image)
            digest = f"sha256:{hashlib.sha256(image.manifest).hexdigest()}" if is_new else ""
            return self._verified(digest, is_new=is_new)

    def _send(self, image: AssembledImage) -> bool:
        """Send what the repository lacks, and the manifest at the end; return whether the tag is new."""
        upload = ImageUpload(self._reference, self._login)
        self._show(f"pushing the image {self._job.image.uri}")
        try:
            for number, layer in enumerate(image.layers, 1):
                patiently(partial(_send_layer, upload, image, layer))
                self._show(f"pushed {number} of {len(image.layers)} layers")
            if not patiently(lambda: upload.has(image.config_blob)):
                patiently(lambda: upload.put_blob(image.config_blob, lambda: iter((image.config,))))
            tag = self._reference.tag or "latest"
            return self._tag(upload, tag, image.manifest)
        except RegistryDenied as denied:
            if self._ecr is not None:
                raise
            help = f"log in with `docker login {upload.host}`"
            raise PublishFailed(3, f"cannot push `{self._job.image.uri}`: {denied}; {help}") from None
        except WireFault as fault:
            raise PublishFailed(3, f"cannot push `{self._job.image.uri}`: {fault}") from None

    def _tag(self, upload: ImageUpload, tag: str, manifest: bytes) -> bool:
        try:
            patiently(lambda: upload.put_manifest(tag, manifest, DOCKER_MANIFEST))
        except BadResponse:
            # A tag that cannot change may be there since a moment ago: what it is, is checked like any other.
            if self._manifest() is None:
                raise
            return False
        return True


def _send_layer(upload: ImageUpload, image: AssembledImage, layer: ImageLayer) -> None:
    blob, base = layer.blob, image.base.repository
    if upload.has(blob):
        return
    if layer in image.base.layers and base.host == upload.host and upload.mounted(blob, base.name):
        return
    upload.put_blob(blob, lambda: image.chunks(blob))


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
        require_no_command(job)
        return _LayerPush(job, logins, options).outcome() if options.pushes else _archived(job, logins, options.show)
    if options.pushes:
        return _EnginePush(job, engine, logins, options).outcome()
    return PublishedImage(uri=job.image.uri, status="built" if engine.build(job) else "present")


def present(image: JobImage, profile: str | None, *, patience: float) -> PublishedImage | None:
    """Return an image if its registry has it; it builds and pushes nothing. Raise PublishFailed."""
    return ImageInRegistry(image, Logins(profile), patience=patience).present()


def _is_denied(rejected: _PushRejected) -> bool:
    return any(
        word in rejected.details.lower() for word in ("denied", "unauthorized", "no basic auth", "authentication")
    )


def _chosen_engine(named: str | None) -> Client:
    """Return the client of an engine. Raise `PublishFailed`; there is no fallback for a named one."""
    if named is not None:
        reason = unavailable(named)
        if reason is not None:
            raise PublishFailed(3, f"`--engine {named}` is not available: {reason}")
        return Client(named)
    reasons = {}
    for name in ENGINES:
        reason = unavailable(name)
        if reason is None:
            return Client(name)
        if "not installed" not in reason:
            reasons[name] = reason
    if not reasons:
        raise PublishFailed(3, "no engine builds images here: install docker, podman, nerdctl, or finch")
    raise PublishFailed(3, f"no engine builds images here: {'; '.join(reasons.values())}")


def _push_image(client: Client, uri: str, show: Callable[[str], None], *, is_verbose: bool) -> str:
    """Push an image; return the digest that the client prints, or an empty string. Raise _PushRejected, _TagExists."""
    show(f"pushing the image {uri}")
    options = ["--format", "v2s2"] if client.program == "podman" else []
    for pause in (*_PAUSES, None):
        progress = _Progress(show, is_verbose=is_verbose)
        try:
            client.follow("push", *options, uri, show=progress.line)
            return progress.digest
        except ClientFailed as fault:
            if _EXISTS.search(fault.details):
                raise _TagExists from None
            if pause is None or not _TRANSIENT.search(fault.details):
                raise _PushRejected(str(fault), fault.details) from None
            show(f"the registry fails: {fault}; trying again in {pause:.0f} s")
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _archived(job: JobImage, logins: Logins, show: Show) -> PublishedImage:
    """Write an image to a file next to its build directory. Raise PublishFailed."""
    path = f"{job.tree.rstrip('/')}{SUFFIX}"
    show(f"reading the base {job.image.base}")
    is_new = write_archive(assembled(job, logins, show), job.image.uri, path)
    return PublishedImage(uri=job.image.uri, status="built" if is_new else "present", archive=path)
