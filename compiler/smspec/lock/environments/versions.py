"""Versions of packages and conditions on them, as the Python packaging specifications define both."""

from __future__ import annotations

import re

_VERSION = re.compile(
    r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_LETTERS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_ORDER = {"a": 0, "b": 1, "rc": 2}
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
    match = _VERSION.fullmatch(text.strip())
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
