"""Why an image cannot be made without an engine: something in its spec runs in the base."""

from __future__ import annotations

from smspec.plan.plan import ImagePlan
from smspec.service.image_reference import SHA256, parsed_reference
from smspec.spec.model import BuiltImage

_NEEDS_AN_ENGINE = "build the image with an engine, or remove the key"
_IN_THE_BASE = {
    "pre_install": "has commands that run in the base",
    "system_packages": "has packages that apt installs in the base",
    "python_packages": "has packages that pip installs in the base",
    "python_requirements": "has packages that pip installs in the base",
    "run": "has commands that run in the base",
    "secrets": "has secrets for commands that run in the base",
    "build_args": "has variables for commands that run in the base",
}


def obstacle(authored: BuiltImage, image: ImagePlan) -> str | None:
    """Return a sentence that names the key, the effect, and the fix; None if nothing runs in the base."""
    for name, why in _IN_THE_BASE.items():
        if getattr(authored, name):
            return f"`image.{name}` {why}, and `--engine none` runs nothing; {_NEEDS_AN_ENGINE}"
    if image.needs_ssh:
        return (
            "`distribution` starts the job with mpirun, which needs packages that apt installs in the base, and"
            " `--engine none` runs nothing; build the image with an engine"
        )
    if image.adds_boto3:
        return (
            "`source.delivery: s3` needs boto3, which pip installs in the base, and `--engine none` runs nothing;"
            " set `source.delivery: image`, or build the image with an engine"
        )
    return _unpinned(authored, image)


def _unpinned(authored: BuiltImage, image: ImagePlan) -> str | None:
    reference = parsed_reference(image.base)
    if reference is not None and (reference.digest or "").startswith(SHA256[:7]):
        return None
    return (
        f"`image.base` is `{authored.base}`, a tag that can move, and `--engine none` makes the same image everywhere;"
        " run `smspec lock`, or add the SHA-256 digest to the base"
    )
