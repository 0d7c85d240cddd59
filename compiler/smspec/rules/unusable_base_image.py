"""The runtime is written in Python, and packages are installed with apt and pip: the base image must have these."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.image_python import official_name, python_of_apt, python_of_image, without_python
from smspec.service.image_reference import parsed_reference
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec

RULE = Rule("SM329", "unusable base image")

OLDEST = (3, 8)
"""The oldest Python that the runtime supports."""

_PATH = ("image", "base")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a base image in which the job certainly finds no usable Python, no pip, or no apt."""
    image = job.image
    if not isinstance(image, BuiltImage):
        return
    if image.system_packages and _is_alpine(image.base):
        yield RULE.at(
            ("image", "system_packages"),
            f"`image.system_packages` requires apt, which `{image.base}` does not have",
            help="use a base image with apt, such as `python:3.12-slim-bookworm`",
            on="key",
        )
        return
    installs = bool(image.python_packages or image.python_requirements is not None or job.delivery == "s3")
    if without_python(image.base) or official_name(image.base) == "alpine":
        yield from _without_python(image, installs=installs)
    elif not image.commands:
        yield from _too_old(image, python_of_image(image.base))


def _without_python(image: BuiltImage, *, installs: bool) -> Iterator[Finding]:
    packages = {word.partition("=")[0].partition(":")[0] for word in image.system_packages}
    if image.pre_install or (image.run and not installs):
        return
    if not any(name.startswith("python3") for name in packages):
        if packages and not _is_plain(packages):
            return
        yield RULE.at(
            _PATH,
            f"`image.base` is `{image.base}`, which has no Python",
            help="add `python3` and `python3-pip` to `image.system_packages`, or use a base image with Python"
            if without_python(image.base)
            else "use a base image with Python, such as `python:3.12-slim-bookworm`",
        )
    elif installs and not any(name.endswith("-pip") for name in packages) and _is_plain(packages):
        yield RULE.at(
            _PATH,
            f"`image.base` is `{image.base}`, which has no pip",
            help="add `python3-pip` to `image.system_packages`",
        )
    else:
        yield from _too_old(image, python_of_apt(image.base))


def _too_old(image: BuiltImage, version: tuple[int, int] | None) -> Iterator[Finding]:
    if version is not None and version < OLDEST and not any("python3." in word for word in image.system_packages):
        yield RULE.at(
            _PATH,
            f"`image.base` is `{image.base}`, with Python {version[0]}.{version[1]}; the minimum is 3.8",
            help="use a base image with Python 3.8 or later",
        )


def _is_plain(packages: set[str]) -> bool:
    """Return whether no package is known to bring pip or Python with it under a different name."""
    return not any(
        name.startswith(("python", "pip", "pypy", "conda", "awscli", "ansible"))
        for name in packages - {"python3", "python3-dev", "python3-minimal", "python3-venv"}
    )


def _is_alpine(image: str) -> bool:
    reference = parsed_reference(image)
    if reference is None:
        return False
    name = official_name(image)
    return name == "alpine" or (name == "python" and "alpine" in (reference.tag or ""))
