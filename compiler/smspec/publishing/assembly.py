"""An image that smspec makes without an engine, as values: its manifest, its config, and all of its layers.

`assembled` returns an `AssembledImage`. It is pushed to a registry, or written to an archive for ``docker load``. The
same job and base give the same digest. What only an engine can do, such as a command in the base, is an obstacle with
the key that asks for it, before anything is downloaded or sent.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from smspec.output.atomic_file import OutputFailed, write_whole_bytes
from smspec.output.contents import TAR_END, tar_end_of, tar_header
from smspec.plan import ImagePlan
from smspec.publishing.file_layers import FileLayer, Status, file_layer, file_layers
from smspec.publishing.packages.base_listing import layer_entries, listing_of
from smspec.publishing.packages.package_layer import package_files
from smspec.publishing.publication import JobImage, PublishFailed
from smspec.publishing.registry_image import GZIP, Base, Logins, read_base
from smspec.registry.manifest import Blob, ImageLayer
from smspec.render.image_settings import EPOCH, ImageSettings, image_settings
from smspec.render.tree import GeneratedFile
from smspec.service.image_reference import SHA256, parsed_reference
from smspec.service.requirement_lines import CERTIFICATES, index_variables, is_index_setting
from smspec.spec.model import BuiltImage
from smspec.wire.fault import BadResponse
from smspec.wire.json_body import member, typed, word

_NEEDS_AN_ENGINE = "build the image with an engine, or remove the key"
_IN_THE_BASE = {
    "pre_install": "has commands that run in the base",
    "system_packages": "has packages that apt installs in the base",
    "run": "has commands that run in the base",
}
_UNUSED = {
    "secrets": "which is not a setting of a package index",
    "build_args": "which is a variable for commands that run in the base",
}
_PACKAGES = ("python_packages", "python_requirements")

CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
_PLATFORM = ("architecture", "os", "variant", "os.version", "os.features")
_INHERITED = ("User", "ExposedPorts", "Volumes", "WorkingDir", "StopSignal", "Healthcheck", "Shell", "ArgsEscaped")
"""What an image takes from its base unchanged. A new entrypoint removes Cmd, as in a Dockerfile."""

SUFFIX = ".image.tar"
_LIST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledImage:
    """``layers``: of the base and of the generated files, the lowest first."""

    base: Base
    added: tuple[FileLayer, ...]
    layers: tuple[ImageLayer, ...]
    config: bytes
    config_blob: Blob
    manifest: bytes

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield the content of a layer. Raise PublishFailed."""
        own = next((layer for layer in self.added if layer.blob == blob), None)
        if own is None:
            yield from self.base.chunks(blob)
            return
        try:
            yield from own.chunks()
        except OutputFailed as failure:
            raise PublishFailed(3, str(failure)) from None


def require_no_command(job: JobImage) -> None:
    """Raise PublishFailed if something in the spec of an image runs in the base."""
    found = obstacle(job.authored, job.image, _requirements(job))
    if found is not None:
        raise PublishFailed(1, f"{job.spec}: {found}")


def assembled(job: JobImage, logins: Logins, show: Callable[[str], None]) -> AssembledImage:
    """Return the image of a job. Raise PublishFailed.

    Of its base, only manifest and config are read, and the names in its layers if the image has packages.
    """
    base, requirements = read_base(job.image, logins), _requirements(job)
    settings = image_settings(job.image, requirements)
    try:
        packages = () if requirements is None else (_packages(job, base, requirements, settings, show),)
        added = (*packages, *file_layers(job.content))
    except OutputFailed as failure:
        raise PublishFailed(3, str(failure)) from None
    try:
        config = as_json(image_config(base.config, len(base.layers), settings, added))
    except BadResponse as fault:
        raise _unusable(job, fault) from None
    blob = Blob(f"sha256:{hashlib.sha256(config).hexdigest()}", len(config))
    layers = (*base.layers, *(ImageLayer(layer.blob, GZIP) for layer in added))
    manifest = image_manifest(config, blob.digest, layers)
    return AssembledImage(base=base, added=added, layers=layers, config=config, config_blob=blob, manifest=manifest)


def _packages(
    job: JobImage, base: Base, requirements: bytes, settings: ImageSettings, show: Callable[[str], None]
) -> FileLayer:
    listing = listing_of(layer_entries(layer, base) for layer in base.layers)
    try:
        variables = settings.variables(base_variables(base.config))
    except BadResponse as fault:
        raise _unusable(job, fault) from None

    def status(directory: str) -> Status | None:
        entry = listing.get(directory)
        return entry.status if entry is not None and entry.kind == "directory" else None

    return file_layer(package_files(job, requirements, listing, variables, show), "packages of smspec.lock", status)


def _requirements(job: JobImage) -> bytes | None:
    """Return the requirements file that the image has; None if it has none."""
    files = (file for file in job.content.files if isinstance(file, GeneratedFile))
    return next((file.content for file in files if file.path == "requirements.txt"), None)


def _unusable(job: JobImage, fault: BadResponse) -> PublishFailed:
    return PublishFailed(3, f"cannot use the base `{job.image.base}`: {fault}")


def obstacle(authored: BuiltImage, image: ImagePlan, requirements: bytes | None) -> str | None:
    """Return a sentence that names the key, the effect, and the fix; None if nothing runs in the base.

    ``requirements``: the locked requirements file, if the image has one.
    """
    for name, why in _IN_THE_BASE.items():
        if getattr(authored, name):
            return f"`image.{name}` {why}, and `--engine none` runs nothing; {_NEEDS_AN_ENGINE}"
    if image.needs_ssh:
        return (
            "`distribution` starts the job with mpirun, which needs packages that apt installs in the base, and"
            " `--engine none` runs nothing; build the image with an engine"
        )
    return _unlocked(authored, image) or _unused(authored, image, requirements) or _unpinned(authored, image)


def _unlocked(authored: BuiltImage, image: ImagePlan) -> str | None:
    if image.environment is not None:
        return None
    key = next((name for name in _PACKAGES if getattr(authored, name)), None)
    if key is not None:
        return (
            f"the packages of `image.{key}` are not in `smspec.lock`, and `--engine none` installs only wheels of"
            " the lockfile; run `smspec lock`, or build the image with an engine"
        )
    if image.adds_boto3:
        return (
            "`source.delivery: s3` needs boto3, which is not in `smspec.lock`, and `--engine none` installs only wheels"
            " of the lockfile; run `smspec lock`, set `source.delivery: image`, or build the image with an engine"
        )
    return None


def _unused(authored: BuiltImage, image: ImagePlan, requirements: bytes | None) -> str | None:
    """Return a sentence about a key that only commands could use: pip itself gets the settings of indexes."""
    for key, why in _UNUSED.items():
        names: Iterable[str] = getattr(authored, key)
        used = index_variables(requirements, image.build_variables, names) if requirements is not None else {}
        settings = {*used, *CERTIFICATES} if requirements is not None else set()
        settings |= {name for name in names if requirements is not None and is_index_setting(name)}
        name = next((name for name in names if name not in settings), None)
        if name is not None:
            return f"`image.{key}` has `{name}`, {why}, and `--engine none` runs nothing; {_NEEDS_AN_ENGINE}"
    return None


def _unpinned(authored: BuiltImage, image: ImagePlan) -> str | None:
    reference = parsed_reference(image.base)
    if reference is not None and (reference.digest or "").startswith(SHA256[:7]):
        return None
    return (
        f"`image.base` is `{authored.base}`, a tag that can move, and `--engine none` makes the same image everywhere;"
        " run `smspec lock`, or add the SHA-256 digest to the base"
    )


def image_config(
    base: dict[str, object], count: int, settings: ImageSettings, added: Iterable[FileLayer]
) -> dict[str, object]:
    """Return the config of an image. ``count``: how many layers the manifest of its base lists.

    Raise `BadResponse` for a config of the base that is wrong, or that has commands for images made from it.
    """
    inherited = _object(base, "config")
    if inherited.get("OnBuild"):
        raise BadResponse("it has ONBUILD commands, which run when an image is made from it; use an engine")
    layers = [word({"digest": each}, "digest", SHA256) for each in member(_object(base, "rootfs"), "diff_ids", list)]
    if len(layers) != count:
        raise BadResponse(f"its config lists {len(layers)} layers, and its manifest {count}")
    added = tuple(added)
    own = {name: inherited[name] for name in _INHERITED if inherited.get(name)}
    own["Env"] = [f"{name}={value}" for name, value in settings.variables(_variables(inherited)).items()]
    own["Labels"] = {
        **{key: typed(value, str, "`Labels`") for key, value in _object(inherited, "Labels").items()},
        **settings.labels,
    }
    own["Entrypoint"] = [*settings.entrypoint]
    if settings.user:
        own["User"] = settings.user
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    history = [typed(each, dict, "`history`") for each in typed(base.get("history") or [], list, "`history`")]
    return {
        **{name: base[name] for name in _PLATFORM if base.get(name)},
        "config": own,
        "created": created,
        "history": [*history, *({"created": created, "created_by": layer.about} for layer in added)],
        "rootfs": {"type": "layers", "diff_ids": [*layers, *(layer.diff_id for layer in added)]},
    }


def image_manifest(config: bytes, digest: str, layers: Iterable[ImageLayer]) -> bytes:
    """Return the manifest of an image; ``digest`` is that of its config."""
    return as_json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"mediaType": CONFIG_TYPE, "size": len(config), "digest": digest},
            "layers": [
                {"mediaType": layer.media_type, "size": layer.blob.size, "digest": layer.blob.digest}
                for layer in layers
            ],
        }
    )


def as_json(value: object) -> bytes:
    """Return the only text of a value: its bytes have a digest."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def base_variables(base: dict[str, object]) -> dict[str, str]:
    """Return the variables in the config of a base. Raise `BadResponse`."""
    return _variables(_object(base, "config"))


def _variables(config: dict[str, object]) -> dict[str, str]:
    lines = typed(config.get("Env") or [], list, "`Env`")
    return {name: value for name, _, value in (typed(line, str, "`Env`").partition("=") for line in lines)}


def _object(holder: dict[str, object], name: str) -> dict[str, object]:
    """Return a member that is an object; empty if it is missing, or null."""
    return typed(holder.get(name) or {}, dict, f"`{name}`")


def write_archive(image: AssembledImage, uri: str, path: str) -> bool:
    """Write an image to a file in one step; return whether it was not there yet. Raise PublishFailed.

    A file that smspec did not write is never replaced.
    """
    head = _head(image, uri)
    found = _beginning(path, len(head))
    if found is not None and not found.startswith(_LIST.encode() + b"\0"):
        raise PublishFailed(1, f"`{path}` exists, and smspec did not write it; move it, or name another --output")
    # Written in one step, so a file with this beginning is whole: the list has the digests of all the rest.
    if found == head:
        return False
    try:
        write_whole_bytes(path, _archive(image, head))
    except OutputFailed as failure:
        raise PublishFailed(3, str(failure)) from None
    return True


def _head(image: AssembledImage, uri: str) -> bytes:
    listed = [{"Config": _config_name(image), "RepoTags": [uri], "Layers": [_name(layer) for layer in image.layers]}]
    return b"".join(_member(_LIST, as_json(listed)))


def _archive(image: AssembledImage, head: bytes) -> Iterator[bytes]:
    yield head
    yield from _member(_config_name(image), image.config)
    for layer in dict.fromkeys(image.layers):
        yield tar_header(_name(layer), layer.blob.size, executable=False, time=EPOCH)
        yield from image.chunks(layer.blob)
        yield tar_end_of(layer.blob.size)
    yield TAR_END


def _member(name: str, content: bytes) -> Iterator[bytes]:
    yield tar_header(name, len(content), executable=False, time=EPOCH)
    yield content
    yield tar_end_of(len(content))


def _config_name(image: AssembledImage) -> str:
    return f"{image.config_blob.digest.partition(':')[2]}.json"


def _name(layer: ImageLayer) -> str:
    return layer.blob.digest.replace(":", "-") + (".tar.gz" if layer.media_type == GZIP else ".tar")


def _beginning(path: str, size: int) -> bytes | None:
    """Return the first bytes of a file; None if it does not exist."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise PublishFailed(3, f"cannot read `{path}`: {os.strerror(fault.errno or 0).lower()}") from None
