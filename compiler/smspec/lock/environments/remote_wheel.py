"""The names of the files in a wheel of an index: its central directory, a few kilobytes at its end."""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Callable

from smspec.lock.environments.resolution import ResolvedFile
from smspec.service.partial_file import PartialFile
from smspec.wire.connections import Connections
from smspec.wire.exchange import HttpResponse, fetched, parsed
from smspec.wire.fault import BadResponse, Deadline, TooLarge

_TAIL = 32 << 10
_LARGEST_DIRECTORY = 16 << 20
LARGEST_WHOLE = 64 << 20
"""The maximum size of a wheel that is downloaded as a whole, from a server that cannot send a part."""


class WrongHash(BadResponse):
    """The file is not the one that the index lists."""


Header = Callable[[str], "str | None"]


def names_in_wheel(file: ResolvedFile, connections: Connections, authorization: Header) -> tuple[str, ...] | None:
    """Return the names of the files in a wheel; None if it is too large for a server without byte ranges.

    ``authorization``: the header for a URL. Raise `WireFault`, also for content that is not a wheel.
    """
    if not re.match(r"https?://", file.url):
        return _names_in_file(file)
    tail = _part(file, connections, authorization, f"bytes=-{_TAIL}")
    if tail is None:
        return None
    size, start, ending = tail
    if start + len(ending) != size:
        raise BadResponse("the server sends another part of the wheel than it was asked for")

    def part(start: int, end: int) -> bytes:
        if end - start > _LARGEST_DIRECTORY:
            raise BadResponse("the wheel has a central directory of more than 16 MiB")
        found = _part(file, connections, authorization, f"bytes={start}-{end - 1}")
        if found is None or (found[0], found[1]) != (size, start) or len(found[2]) != end - start:
            raise BadResponse("the server sends another part of the wheel than it was asked for")
        return found[2]

    return _names(PartialFile(size, ending, part))


def _part(
    file: ResolvedFile, connections: Connections, authorization: Header, wanted: str
) -> tuple[int, int, bytes] | None:
    """Return the size of a file, and a part of it with its start; None if the server sends only all of a large file."""
    response = _asked(file, connections, authorization, {"Range": wanted}, _LARGEST_DIRECTORY)
    if response is not None and response.status == 206:
        match = re.fullmatch(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})", response.header("content-range"))
        if match is None:
            raise BadResponse("a part of the wheel without a Content-Range")
        first, last, size = (int(number) for number in match.groups())
        if last != first + len(response.body) - 1 or last >= size:
            raise BadResponse("a part of the wheel that does not match its Content-Range")
        return size, first, response.body
    if response is None or response.status != 200:
        response = _asked(file, connections, authorization, {}, LARGEST_WHOLE)
    if response is None:
        return None
    if response.status != 200:
        raise BadResponse(f"it responds {response.status} {response.reason}".rstrip())
    if hashlib.sha256(response.body).hexdigest() != file.sha256:
        raise WrongHash("the wheel does not match the SHA-256 of its index")
    return len(response.body), 0, response.body


def _asked(
    file: ResolvedFile, connections: Connections, authorization: Header, headers: dict[str, str], largest: int
) -> HttpResponse | None:
    """Return a response; None if it is larger than ``largest``."""
    url = parsed(_without_user(file.url)).geturl()
    secret = authorization(url)
    headers = {"User-Agent": "smspec", **headers, **({"Authorization": secret} if secret else {})}
    try:
        return fetched(connections, url, headers, deadline=Deadline(), size=largest).response
    except TooLarge:
        return None


def _without_user(url: str) -> str:
    return re.sub(r"^(https?://)[^/@]*@", r"\1", url).partition("#")[0]


def _names_in_file(file: ResolvedFile) -> tuple[str, ...]:
    path = file.url.removeprefix("file://")
    try:
        with open(path, "rb") as content:
            return _names(content)
    except OSError as fault:
        raise BadResponse(f"cannot read `{os.path.basename(path)}`: {(fault.strerror or '').lower()}") from None


def _names(content: io.RawIOBase | io.BufferedIOBase) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(content) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, UnicodeDecodeError, OverflowError):
        raise BadResponse("the file is not a wheel") from None
