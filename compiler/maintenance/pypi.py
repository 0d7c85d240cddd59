"""Read from PyPI the files of a version, and which modules they provide, without downloading more than a list.

A wheel ends with the list of its files. A distribution without a wheel has its modules in ``top_level.txt``, which
setuptools writes, and in its packages; what only its own build knows stays unknown.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable
from functools import lru_cache

from smspec.service.partial_file import PartialFile
from smspec.source.frozen import dataclass

_INDEX = "https://pypi.org/simple"
_ACCEPT = {"Accept": "application/vnd.pypi.simple.v1+json"}
_TIMEOUT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """``date``: the day of its upload."""

    name: str
    url: str
    size: int
    date: str


def published_files(distribution: str, version: str) -> list[PublishedFile]:
    """Return the files of a version; none if PyPI does not have it."""
    normal = re.sub(r"[-_.]+", "[-_.]+", distribution)
    name = re.compile(rf"{normal}-{re.escape(version)}(?:-.*\.whl|\.tar\.gz|\.tgz|\.zip)", re.IGNORECASE)
    return [file for file in _all_files(distribution) if name.fullmatch(file.name)]


def downloaded(url: str, *, start: int | None = None, end: int | None = None) -> bytes:
    """Return a file, or its bytes from ``start`` to before ``end``."""
    headers = {} if start is None or end is None else {"Range": f"bytes={start}-{end - 1}"}
    return _answer(url, headers)


@lru_cache(maxsize=16)
def _all_files(distribution: str) -> list[PublishedFile]:
    try:
        found = json.loads(_answer(f"{_INDEX}/{distribution}/", _ACCEPT))["files"]
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return []
        raise
    return [
        PublishedFile(name=file["filename"], url=file["url"], size=file["size"], date=file["upload-time"][:10])
        for file in found
    ]


def _answer(url: str, headers: dict[str, str]) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_TIMEOUT) as answer:
        content: bytes = answer.read()
    return content


_TAIL = 65_536
_LARGEST_SOURCE = 64_000_000

_EXTENSION = r"\.(?:cpython-[0-9]+[^.]*|abi3|cp[0-9]+[^.]*)?\.?(?:so|pyd)$"
_INSTALLED = r"^[^/]+\.data/(?:purelib|platlib)/"
_TOP_LEVEL = r"[^/]+/(?:src/|lib/)?[^/]+\.egg-info/top_level\.txt"
_IDENTIFIER = r"[^\W\d]\w*"


def module_names(distribution: str, version: str, *, python: str) -> frozenset[str] | None:
    """Return the first parts of the modules of a distribution on Linux x86_64; None if they are unknown.

    ``python``: ``312``. There may be several wheels for it, and which one pip chose is unknown: then those of all.
    """
    files = published_files(distribution, version)
    wheels = [file for file in files if file.name.endswith(".whl") and _fits(file.name, python)]
    if wheels:
        return frozenset().union(*(names_in_wheel(_wheel_entries(file)) for file in wheels))
    for file in files:
        if file.name.endswith((".tar.gz", ".tgz")) and file.size <= _LARGEST_SOURCE:
            return _names_in_source(downloaded(file.url))
    return None


def names_in_wheel(entries: Iterable[str]) -> frozenset[str]:
    """Return the first parts of the modules that a wheel installs, from the names of its files.

    A directory is a module even if it has no file of Python, as that of NVIDIA's libraries.
    """
    paths = (re.sub(_INSTALLED, "", entry).split("/") for entry in entries)
    names = (first if below else _module(first) for first, *below in paths)
    return frozenset(name for name in names if _is_module(name))


def _module(file: str) -> str:
    """Return the name of the module in a file; empty if it is none."""
    return re.sub(_EXTENSION, "", file) if re.search(_EXTENSION, file) else file[:-3] if file.endswith(".py") else ""


def _is_module(name: str) -> bool:
    return name != "__init__" and re.fullmatch(_IDENTIFIER, name) is not None


def _names_in_source(content: bytes) -> frozenset[str] | None:
    """Return the modules of an archive of sources; more than it has are better than fewer."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        entries = archive.getnames()
        listed = next((name for name in entries if re.fullmatch(_TOP_LEVEL, name)), "")
        member = archive.extractfile(listed) if listed else None
        names = member.read().decode().split() if member is not None else []
    packages = (re.match(rf"[^/]+/(?:src/|lib/)?({_IDENTIFIER})/__init__\.py$", entry) for entry in entries)
    names += [match[1] for match in packages if match]
    return frozenset(first for name in names if _is_module(first := name.partition("/")[0])) or None


def _fits(wheel: str, python: str) -> bool:
    """Return whether a wheel is for a version of CPython on Linux x86_64."""
    interpreters, abi, platforms = (each.split(".") for each in wheel.removesuffix(".whl").rsplit("-", 3)[1:])
    oldest = min((int(each[3:]) for each in interpreters if re.fullmatch(r"cp3\d+", each)), default=None)
    is_for_python = bool({f"cp{python}", f"py{python}", "py3"} & {*interpreters}) or (
        "abi3" in abi and oldest is not None and oldest <= int(python[1:])
    )
    return is_for_python and any(
        each == "any" or re.fullmatch(r"(?:many)?linux.*_x86_64", each) is not None for each in platforms
    )


def _wheel_entries(file: PublishedFile) -> list[str]:
    """Return the names of the files of a wheel, from the list at its end."""

    def part(start: int, end: int) -> bytes:
        return downloaded(file.url, start=start, end=end)

    with zipfile.ZipFile(PartialFile(file.size, part(max(0, file.size - _TAIL), file.size), part)) as wheel:
        return wheel.namelist()
