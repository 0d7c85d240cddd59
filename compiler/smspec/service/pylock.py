"""A ``pylock.toml`` as the requirements file that installs the same packages.

https://packaging.python.org/en/latest/specifications/pylock-toml/
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache

_NAME = re.compile(r"pylock(?:\.[^.]+)?\.toml")
_HEADER = re.compile(r"\s*\[\[\s*packages\s*\]\]")
_PROJECT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"https?://[!-~]+")
_MARKER = re.compile(r"[ -~]+")
_OF_GROUPS = re.compile(r"\b(?:extras|dependency_groups)\b")
_OF_GROUP = re.compile(r"""(["'])([A-Za-z0-9._-]+)\1 in dependency_groups\b""")
_PYPI = "https://pypi.org/simple"
_LONGEST_LINE = 16 << 10
"""Bytes. The parser takes quadratic time in the parts of a key."""


class NotConvertible(Exception):
    """The packages are not those of a requirements file; the text is the end of a sentence about the file."""


def is_pylock(name: str) -> bool:
    """Return whether a file is a ``pylock.toml`` by its name."""
    return _NAME.fullmatch(name) is not None


@lru_cache(maxsize=64)  # jobs share files
def requirements_of(content: bytes) -> bytes:
    """Return a requirements file with the packages, each on the line of its table. Raise `NotConvertible`."""
    packages, groups = _packages(content)
    headers = [number for number, line in enumerate(content.decode().splitlines()) if _HEADER.match(line)]
    places = headers if len(headers) == len(packages) else range(len(packages))
    lines = [""] * (max(places, default=0) + 1)
    for place, package in zip(places, packages, strict=True):
        lines[place] = _requirement(package, groups)
    indexes = list(dict.fromkeys(str(each["index"]).rstrip("/") for each in packages if each.get("index")))
    if indexes and indexes != [_PYPI]:
        if not all(_URL.fullmatch(index) for index in indexes):
            raise NotConvertible("has an `index` that is not a URL")
        options = " ".join(("--index-url", indexes[0], *(f"--extra-index-url {index}" for index in indexes[1:])))
        lines = [options, *lines[1:]] if not lines[0] else [options, *lines]
    return "".join(f"{line}\n" for line in lines).encode()


def _packages(content: bytes) -> tuple[list[dict[str, object]], list[object]]:
    """Return the packages, and the names of the groups that are installed by default."""
    if any(len(line) > _LONGEST_LINE for line in content.split(b"\n")):
        raise NotConvertible(f"has a line of more than {_LONGEST_LINE >> 10} KiB")
    # Imported late: few jobs have such a file.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        found = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as fault:
        raise NotConvertible(f"is not valid TOML: {fault}") from None
    version, packages = found.get("lock-version"), found.get("packages", [])
    if not isinstance(version, str) or not version.startswith("1."):
        raise NotConvertible("has no `lock-version` that smspec supports, such as `1.0`")
    if not isinstance(packages, list) or not all(isinstance(each, dict) for each in packages):
        raise NotConvertible("has `packages` that are not tables")
    groups = found.get("default-groups", [])
    return packages, groups if isinstance(groups, list) else []


def _requirement(package: Mapping[str, object], groups: list[object]) -> str:
    name, version, marker = (package.get(key, "") for key in ("name", "version", "marker"))
    if not isinstance(name, str) or not _PROJECT.fullmatch(name):
        raise NotConvertible("has a package without a valid `name`")
    if "vcs" in package or "directory" in package:
        kind = "a directory" if "directory" in package else "a repository"
        raise NotConvertible(f"installs `{name}` from {kind}")
    if isinstance(marker, str):
        # pip has no such variable in a requirement: a condition that is always true, or never, replaces it.
        marker = _OF_GROUP.sub(lambda match: f"os_name {'!=' if match[2] in groups else '=='} ''", marker)
    if not isinstance(marker, str) or (marker and not _MARKER.fullmatch(marker)) or _OF_GROUPS.search(marker):
        raise NotConvertible(f"installs `{name}` only for some extras or groups")
    archive = package.get("archive")
    files = [archive] if archive is not None else list(_files(package))
    hashes = [_sha256(name, file) for file in files]
    if archive is not None:
        url = archive.get("url") if isinstance(archive, dict) else None
        if not isinstance(url, str) or not _URL.fullmatch(url):
            raise NotConvertible(f"installs `{name}` from a file of this machine")
        what = f"{name} @ {url}" + (" " if marker else "")
    elif isinstance(version, str) and _VERSION.fullmatch(version) and files:
        what = f"{name}=={version}"
    else:
        raise NotConvertible(f"has no version and files of `{name}`")
    condition = f"; {marker}" if marker else ""
    return " ".join((f"{what}{condition}", *(f"--hash=sha256:{digest}" for digest in dict.fromkeys(hashes))))


def _files(package: Mapping[str, object]) -> Iterator[object]:
    wheels = package.get("wheels")
    yield from wheels if isinstance(wheels, list) else ()
    if "sdist" in package:
        yield package["sdist"]


def _sha256(name: str, file: object) -> str:
    hashes = file.get("hashes") if isinstance(file, dict) else None
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise NotConvertible(f"has a file of `{name}` without its SHA-256")
    return digest
