"""Which versions and wheels fit: the Python packaging specifications of versions, conditions on them, and tags.

https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
"""

from __future__ import annotations

import re
from typing import NamedTuple

from smspec.service.bare_image import BareImage

_VERSION = re.compile(
    r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)

_LETTERS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_ORDER = {"a": 0, "b": 1, "rc": 2}
_LONGEST = 1000
"""Characters of a version; Python converts no number of more than 4,300 digits."""
_CONDITION = re.compile(r"(===|==|!=|<=|>=|~=|<|>)\s*(.+)")

Key = tuple[int, tuple[int, ...], tuple[int, int], int, int]


class Version:
    """A version that can be compared. Local versions, ``1.0+cpu``, are as new as the public one."""

    def __init__(self, text: str, match: re.Match[str]) -> None:
        self.text = text
        self.epoch = int(match[1] or 0)
        self.release = tuple(int(number) for number in match[2].split("."))
        letter = (match[3] or "").lower()
        self.is_preview = bool(letter or match[8])
        self.local = (match[10] or "").lower()
        pre = (_ORDER[_LETTERS.get(letter, letter)], int(match[4] or 0)) if letter else None
        post = int(match[5] or match[7] or 0) if match[5] or match[6] else -1
        dev = int(match[9] or 0) if match[8] else 1 << 60
        if pre is None:
            pre = (-1, 0) if match[8] and post < 0 else (3, 0)
        self.key: Key = (self.epoch, _trimmed(self.release), pre, post, dev)


def version(text: str) -> Version | None:
    """Parse a version; None if it is not one."""
    match = _VERSION.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    return Version(text.strip(), match) if match else None


def fits(candidate: Version, specifier: str) -> bool:
    """Return whether a version meets all conditions, such as ``>=1.2,<2``; True for a condition of unknown form."""
    return all(_meets(candidate, part.strip()) for part in specifier.split(",") if part.strip())


def _meets(candidate: Version, condition: str) -> bool:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return True
    operator, text = match[1], match[2].strip()
    if operator == "===":
        return candidate.text.lower() == text.lower()
    if text.endswith(".*"):
        prefix = version(text[:-2])
        if prefix is None:
            return True
        starts = _padded(candidate.release, len(prefix.release))[: len(prefix.release)] == prefix.release
        return (starts and candidate.epoch == prefix.epoch) == (operator == "==")
    bound = version(text)
    if bound is None:
        return True
    if operator in ("==", "!="):
        same = candidate.key == bound.key and (not bound.local or bound.local == candidate.local)
        return same == (operator == "==")
    if operator == "~=":
        prefix_length = len(bound.release) - 1
        same = _padded(candidate.release, prefix_length)[:prefix_length] == bound.release[:-1]
        return same and candidate.epoch == bound.epoch and candidate.key >= bound.key
    if operator == "<":
        return candidate.key < bound.key and not (
            candidate.is_preview and not bound.is_preview and _trimmed(candidate.release) == _trimmed(bound.release)
        )
    if operator == ">":
        is_post_of_it = candidate.key[3] >= 0 > bound.key[3] and _trimmed(candidate.release) == _trimmed(bound.release)
        return candidate.key > bound.key and not is_post_of_it
    return candidate.key <= bound.key if operator == "<=" else candidate.key >= bound.key


def _trimmed(release: tuple[int, ...]) -> tuple[int, ...]:
    end = len(release)
    while end > 1 and release[end - 1] == 0:
        end -= 1
    return release[:end]


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return release + (0,) * (length - len(release))


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
