"""Why an image cannot be made without an engine: something in its spec runs in the base."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.plan.plan import ImagePlan
from smspec.service.image_reference import SHA256, parsed_reference
from smspec.service.requirement_lines import CERTIFICATES, index_variables, is_index_setting
from smspec.spec.model import BuiltImage

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
