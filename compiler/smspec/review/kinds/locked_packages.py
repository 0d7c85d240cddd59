"""The packages that the image of each state installs, from the lock: what the digest of their file stands for."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.change import Change
from smspec.review.layers import PYTHON_PACKAGES
from smspec.review.user_text import quoted
from smspec.review.version import Version
from smspec.review.version_pair import Pair
from smspec.source import Path

MOST = 20
"""Packages with a change of their own; the image is the first kind, and the others must fit below it."""

_FILE: Path = ("image", "python_requirements")
_LIST: Path = ("image", "python_packages")


def are_known(pair: Pair) -> bool:
    """Return whether the lock has the packages of both states, and they differ."""
    old, new = pair.old.packages, pair.new.packages
    return old is not None and new is not None and old != new


def package_changes(pair: Pair, kind: str, effect: str) -> Iterator[Change]:
    """Yield the packages that are added, removed, or in another version; of many, the last ones together."""
    old, new = pair.old.packages or {}, pair.new.packages or {}
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    path = _path(pair.new) or _path(pair.old) or _FILE
    for name in names[:MOST]:
        what = f"{PYTHON_PACKAGES} ({quoted(name)}): {effect}"
        yield pair.change(kind, path, what, old=old.get(name), new=new.get(name), brief=PYTHON_PACKAGES)
    rest = names[MOST:]
    if rest:
        what = f"{PYTHON_PACKAGES}, {len(rest)} more: {effect}"
        was, will = ([f"{name} {known[name]}" for name in rest if name in known] for known in (old, new))
        yield pair.change(kind, path, what, old=was or None, new=will or None, brief=PYTHON_PACKAGES)


def _path(version: Version) -> Path | None:
    """Return the key that lists the packages; None if neither is written."""
    writing = version.writing
    return next((path for path in (_FILE, _LIST) if writing is not None and writing.place(path)), None)
