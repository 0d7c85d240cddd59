"""What packages for a bare image must fit: its Python, its C library, and its processor.

A bare image has Python without packages: the official one of Python, and Debian, Ubuntu, or CUDA with apt's Python. In
any other image a new resolution would replace packages that the image has.
"""

from __future__ import annotations

import re
from typing import Literal

from smspec.service.image_python import (
    APT_PYTHON,
    is_official_python,
    locked_python,
    python_of_image,
    release_of,
    without_python,
)
from smspec.service.image_reference import parsed_reference
from smspec.source.frozen import dataclass

DATE = "2026-11-23"

Release = tuple[int, int, int]

_GLIBC_OF_UV: tuple[int, ...] = (17, 28, *range(31, 41))

_PROCESSORS = {"linux/amd64": "x86_64", "linux/arm64": "aarch64", "linux/arm64/v8": "aarch64"}

_GLIBC = {"buster": 28, "bullseye": 31, "bookworm": 36, "trixie": 41}
"""Suite of Debian → the minor version of glibc 2."""

# The newest releases of Python, for tags such as `3.12`, which move. python.org/downloads
_NEWEST_PATCH = {8: 20, 9: 25, 10: 20, 11: 15, 12: 13, 13: 12, 14: 3}

# The suite of a tag without one: the first patch release of each minor one that was built on it, newest first. Newer
# suites than bookworm have a newer glibc, and hardly any package requires it.
_SUITES: tuple[tuple[str, dict[int, int], int], ...] = (
    ("bookworm", {8: 17, 9: 17, 10: 12, 11: 4}, 12),
    ("bullseye", {8: 12, 9: 7}, 10),
    ("buster", {}, 0),
)

# The first patch release whose image has pip 20.3, which reads tags such as `manylinux_2_28`, and 21.2, which reads
# `musllinux_1_1`; later minor releases have both from the first on. pip.pypa.io/en/stable/news
_PIP_20_3 = {8: 7, 9: 1}
_PIP_21_2 = {8: 12, 9: 7}
_OLD_GLIBC = 17

_RELEASES: dict[str, tuple[Release, int]] = {
    **dict.fromkeys(("debian bullseye", "debian 11"), ((3, 9, 2), 31)),
    **dict.fromkeys(("debian bookworm", "debian 12"), ((3, 11, 2), 36)),
    **dict.fromkeys(("debian trixie", "debian 13"), ((3, 13, 5), 41)),
    # Its pip, 20.0, reads no tags of wheels for a newer glibc than `manylinux2014`.
    **dict.fromkeys(("ubuntu focal", "ubuntu 20.04"), ((3, 8, 10), 17)),
    **dict.fromkeys(("ubuntu jammy", "ubuntu 22.04"), ((3, 10, 12), 35)),
    **dict.fromkeys(("ubuntu noble", "ubuntu 24.04"), ((3, 12, 3), 39)),
}
"""Release → the version of apt's `python3`, and the minor version of glibc 2 of the wheels that its pip installs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BareImage:
    """``python``: its full version. ``libc``: with the minor version, as in ``("manylinux", 36)`` for glibc 2.36."""

    python: Release
    libc: tuple[Literal["manylinux", "musllinux"], int]
    processor: str

    @property
    def known_glibc(self) -> int:
        """The minor version of the newest glibc that uv knows, not newer than that of the image."""
        return max(known for known in _GLIBC_OF_UV if known <= self.libc[1])

    @property
    def minor(self) -> str:
        """The version of Python without the patch release."""
        return f"{self.python[0]}.{self.python[1]}"

    @property
    def release(self) -> str:
        """The version of Python."""
        return ".".join(map(str, self.python))


def bare_image(image: str, system_packages: tuple[str, ...], platform: str, python: str = "") -> BareImage | str:
    """Return what packages for an image must fit, or why that is unknown: a sentence without its subject.

    ``python``: the version in the lockfile, for an image whose tag shows none.
    """
    processor = _PROCESSORS.get(platform)
    if processor is None:
        return f"smspec has no list of packages for {platform}"
    if not (is_official_python(image) or without_python(image)):
        return "its base might contain packages that a new resolution would replace"
    version = python_of_image(image, system_packages)
    is_shown = version is not None
    if version is None:
        version = locked_python(python)
    if version is None or (not is_shown and not is_official_python(image)):
        return "the tag of its base shows no version of Python"
    if version < (3, 8):
        return f"its base has Python {version[0]}.{version[1]}"
    if is_official_python(image):
        return _official(image, version, processor, "" if is_shown else python)
    others = [
        word for word in system_packages if re.match(r"python3?-", word) and word.partition("=")[0] not in APT_PYTHON
    ]
    if others:
        return f"its Python has packages of apt, such as `{others[0]}`"
    found = _RELEASES.get(release_of(image) or "")
    if found is None:
        return "the release of its base is unknown"
    return BareImage(python=found[0], libc=("manylinux", found[1]), processor=processor)


def _official(image: str, version: tuple[int, int], processor: str, locked: str) -> BareImage | str:
    reference = parsed_reference(image)
    tag = (reference.tag if reference else None) or ""
    if locked:
        # As in `slim`, `3-bookworm`, or no tag: the version takes the place of the number.
        tag = f"{locked}-{re.sub(r'^[0-9]+(?:-|$)', '', tag)}"
    first, _, rest = tag.partition("-")
    match = re.fullmatch(r"3\.\d+(?:\.(\d+))?", first)
    if match is None or rest.startswith(("rc", "windows", "nanoserver")) or version[1] not in _NEWEST_PATCH:
        return f"`{tag}` is not a tag that smspec knows"
    minor = version[1]
    patch = int(match[1]) if match[1] else _NEWEST_PATCH[minor]
    alpine = re.search(r"alpine(?:3\.(\d+))?", rest)
    if alpine:
        if alpine[1] and int(alpine[1]) < 13:
            return "its base has musl 1.1"
        if patch < _PIP_21_2.get(minor, 0):
            return "the pip of its base installs no wheels for musl"
        return BareImage(python=(3, minor, patch), libc=("musllinux", 2), processor=processor)
    named = next((suite for suite in _GLIBC if suite in rest.split("-")), None)
    suite = named or next(
        suite for suite, since, every in _SUITES if minor >= every or patch >= since.get(minor, patch + 1)
    )
    glibc = _OLD_GLIBC if patch < _PIP_20_3.get(minor, 0) else _GLIBC[suite]
    return BareImage(python=(3, minor, patch), libc=("manylinux", glibc), processor=processor)
