"""Which wheels an image can install, and which of them pip prefers: the tags in the name of a wheel.

https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
"""

from __future__ import annotations

import re
from typing import NamedTuple

from smspec.service.bare_image import BareImage

Rank = tuple[int, int, int]
"""Smaller is better: the kind of tag, the platform, and the number of the build."""


class WheelName(NamedTuple):
    """The parts of the name of a wheel."""

    project: str
    version: str
    build: int
    pythons: tuple[str, ...]
    abis: tuple[str, ...]
    platforms: tuple[str, ...]


def wheel_name(file: str) -> WheelName | None:
    """Parse the name of a wheel; None if it is not one."""
    parts = file.removesuffix(".whl").split("-")
    if not file.endswith(".whl") or len(parts) not in (5, 6):
        return None
    build = re.match(r"\d{1,9}", parts[2]) if len(parts) == 6 else None
    python, abi, platform = (tuple(part.split(".")) for part in parts[-3:])
    return WheelName(parts[0], parts[1], int(build[0]) if build else 0, python, abi, platform)


def rank(wheel: WheelName, image: BareImage) -> Rank | None:
    """Return how much pip prefers a wheel; None if the image cannot install it."""
    known = platforms(image)
    found = []
    for platform in wheel.platforms:
        if platform != "any" and platform not in known:
            continue
        for python in wheel.pythons:
            for abi in wheel.abis:
                kind = _kind(python, abi, platform, image.python[1])
                if kind is not None:
                    found.append((kind, known.index(platform) if platform != "any" else 0, -wheel.build))
    return min(found, default=None)


def platforms(image: BareImage) -> list[str]:
    """Return the tags of the platforms whose wheels an image can install, best first."""
    processor = image.processor
    if image.libc[0] == "musllinux":
        found = [f"musllinux_1_{minor}_{processor}" for minor in range(image.libc[1], -1, -1)]
        return [*found, f"linux_{processor}"]
    oldest = 5 if processor == "x86_64" else 17
    names = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    found = []
    for minor in range(image.known_glibc, oldest - 1, -1):
        found.append(f"manylinux_2_{minor}_{processor}")
        found += [f"{names[minor]}_{processor}"] if minor in names else []
    return [*found, f"linux_{processor}"]


def _kind(python: str, abi: str, platform: str, minor: int) -> int | None:
    """Return the position of Python and ABI in the order of pip, the best is 0; None if they do not fit Python 3."""
    match = re.fullmatch(r"(cp|py)3(\d{0,3})", python)
    if match is None or (match[2] and int(match[2]) > minor):
        return None
    is_this = match[2] == str(minor)
    age = minor - int(match[2]) if match[2] else 0
    if match[1] == "py":
        if abi != "none":
            return None
        # `py3` comes between this version and the older ones.
        return (1000 if platform == "any" else 500) + (1 + (0 if not match[2] else 0 if is_this else 1 + age))
    if abi == "none":
        if not is_this:
            return None
        return 1000 if platform == "any" else 2
    if platform == "any" or not match[2]:
        return None
    if abi == "abi3":
        return 1 if is_this else 3 + age
    return 0 if is_this and abi in (f"cp3{minor}", f"cp3{minor}m") else None
