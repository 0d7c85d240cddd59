"""The Python of an image, as far as its name shows it."""

from __future__ import annotations

import re
from functools import lru_cache

from smspec.service.image_reference import parsed_reference

Version = tuple[int, int]

_OFFICIAL = (None, "docker.io", "index.docker.io", "registry-1.docker.io", "public.ecr.aws")
_TAG = r"(\d+)\.(\d+)(?:[.-].*)?"
_PY = r"(?:.*-)?py(\d)(\d+)(?:-.*)?"
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
    if without_python(image):
        found = [word.partition("=")[0] for word in system_packages]
        return python_of_apt(image) if any(word in APT_PYTHON for word in found) else None
    match = re.fullmatch(_PY, reference.tag)
    if match:
        return int(match[1]), int(match[2])
    return _listed_python(image) if reference.account is not None or reference.registry is None else None


def locked_python(version: str) -> Version | None:
    """Return a version of Python in a lockfile without the patch release; None for an empty string."""
    numbers = version.split(".")
    return (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else None


def _listed_python(image: str) -> Version | None:
    """Return the version of Python in an image of AWS whose tag does not show it."""
    # Imported late: few jobs have an image of AWS, and only theirs are in the table.
    from smspec.service.provided_images import python_of

    return python_of(image)


def is_official_python(image: str) -> bool:
    """Return whether an image is the official one of Python: with pip, and no other packages."""
    return official_name(image) == "python"


def without_python(image: str) -> bool:
    """Return whether an image is known to have no Python: Debian, Ubuntu, and CUDA on one of them."""
    return official_name(image) in ("debian", "ubuntu") or _cuda_release(image) is not None


def python_of_apt(image: str) -> Version | None:
    """Return the version of apt's ``python3`` in an image without Python; None for a release that is unknown."""
    return _PYTHON_OF_RELEASE.get(release_of(image))


def release_of(image: str) -> str:
    """Return the release in the tag of an image without Python, such as ``debian bookworm``; empty without a tag."""
    reference = parsed_reference(image)
    if reference is None or reference.tag is None:
        return ""
    release = _cuda_release(image)
    if release is None:
        word = reference.tag.removesuffix("-slim").partition("-")[0]
        name = reference.repository.rpartition("/")[2]
        release = f"{name} {word.partition('.')[0] if name == 'debian' else word}"
    return release


def official_name(image: str) -> str:
    """Return the name of an official image of Docker Hub, or of a copy that keeps ``library/``; empty for any other."""
    reference = parsed_reference(image)
    if reference is None:
        return ""
    above, _, name = reference.repository.rpartition("/")
    if above == "library" or above.endswith("/library"):
        return name
    return name if not above and reference.registry in _OFFICIAL[:-1] else ""


def _cuda_release(image: str) -> str | None:
    """Return the release of ``nvidia/cuda`` on Ubuntu or Debian."""
    reference = parsed_reference(image)
    if reference is None or not reference.repository.endswith("nvidia/cuda") or reference.tag is None:
        return None
    match = re.search(r"-(ubuntu|debian)(\d+(?:\.\d+)?)$", reference.tag)
    return f"{match[1]} {match[2]}" if match else None
