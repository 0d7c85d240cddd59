"""The Python of an image, as far as its name shows it."""

from __future__ import annotations

import re
from functools import lru_cache

from smspec.service.image_reference import parsed_reference

Version = tuple[int, int]

_TAG = r"(\d+)\.(\d+)(?:[.-].*)?"
_PY = r"(?:^|-)py(?:thon-?)?(?:(2)|(\d)\.?(\d+)(?:\.\d+)?)(?=-|$)"
_OLD_NAME = r"sagemaker-[a-z]+-py2-[cg]pu"
"""Before tags, the names of AWS's repositories showed the Python."""
_PYTHON_OF_RELEASE: dict[str, Version] = {
    **dict.fromkeys(("debian buster", "debian 10"), (3, 7)),
    **dict.fromkeys(("debian bullseye", "debian 11"), (3, 9)),
    **dict.fromkeys(("debian bookworm", "debian 12"), (3, 11)),
    **dict.fromkeys(("debian trixie", "debian 13"), (3, 13)),
    **dict.fromkeys(("ubuntu bionic", "ubuntu 18.04"), (3, 6)),
    **dict.fromkeys(("ubuntu focal", "ubuntu 20.04"), (3, 8)),
    **dict.fromkeys(("ubuntu jammy", "ubuntu 22.04"), (3, 10)),
    **dict.fromkeys(("ubuntu noble", "ubuntu 24.04"), (3, 12)),
}
"""Release → the version of its package `python3`."""

APT_PYTHON = ("python3", "python3-minimal", "python3-full", "python3-dev", "python3-pip", "python3-venv")


@lru_cache(maxsize=256)  # jobs share images
def python_of_image(image: str, system_packages: tuple[str, ...] = ()) -> Version | None:
    """Return the version of ``python3`` in an image with apt packages; None if its name does not show it."""
    reference = parsed_reference(image)
    if reference is None or reference.tag is None:
        return None
    name = reference.repository.rpartition("/")[2]
    if name == "python":
        if re.fullmatch(r"2(?:-.*)?", reference.tag):
            return 2, 7
        match = re.fullmatch(_TAG, reference.tag)
        return (int(match[1]), int(match[2])) if match else None
    release = release_of(image)
    if release is not None:
        has_python = any(word.partition("=")[0] in APT_PYTHON for word in system_packages)
        return _PYTHON_OF_RELEASE.get(release) if has_python else None
    if re.fullmatch(_OLD_NAME, name):
        return 2, 7
    found = {(2, 7) if two else (int(major), int(minor)) for two, major, minor in re.findall(_PY, reference.tag)}
    if found:
        return found.pop() if len(found) == 1 else None
    if reference.account is None and reference.registry is not None:
        return None
    # Imported late: few jobs have an image of AWS, and only theirs are in the table.
    from smspec.service.provided_images import python_of

    return python_of(image)


def locked_python(version: str) -> Version | None:
    """Return a version of Python in a lockfile without the patch release; None for an empty string."""
    numbers = version.split(".")
    return (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else None


def is_official_python(image: str) -> bool:
    """Return whether an image is the official one of Python: with pip, and no other packages."""
    return official_name(image) == "python"


def without_python(image: str) -> bool:
    """Return whether an image is known to have no Python: Debian, Ubuntu, and CUDA on one of them."""
    return release_of(image) is not None


def python_of_apt(image: str) -> Version | None:
    """Return the version of apt's ``python3`` in an image without Python; None for a release that is unknown."""
    return _PYTHON_OF_RELEASE.get(release_of(image) or "")


def release_of(image: str) -> str | None:
    """Return the release of an image without Python, such as ``debian bookworm``; None for any other image.

    It is empty if the tag does not show it.
    """
    reference = parsed_reference(image)
    if reference is None:
        return None
    if reference.repository.endswith("nvidia/cuda"):
        match = re.search(r"-(ubuntu|debian)(\d+(?:\.\d+)?)$", reference.tag or "")
        return f"{match[1]} {match[2]}" if match else None
    name = reference.official_name
    if name not in ("debian", "ubuntu"):
        return None
    word = (reference.tag or "").removesuffix("-slim").partition("-")[0]
    return f"{name} {word.partition('.')[0] if name == 'debian' else word}" if word else ""


def official_name(image: str) -> str:
    """Return the name of an official image; empty for any other."""
    reference = parsed_reference(image)
    return "" if reference is None else reference.official_name
