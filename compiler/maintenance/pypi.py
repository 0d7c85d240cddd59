"""Ask PyPI for the files of a version of a distribution, and download parts of them."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from functools import lru_cache

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
