"""The names of the files in a wheel of an index: its central directory, a few kilobytes at its end."""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Callable

from smspec.lock.environments.resolution import ResolvedFile
from smspec.wire.connections import Connections
from smspec.wire.deadline import Deadline
from smspec.wire.exchange import Response
from smspec.wire.fault import BadResponse, TooLarge
from smspec.wire.fetching import fetched
from smspec.wire.url import parsed

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
    size, start, content = tail
    directory = _start_of_directory(start, content)
    if directory < start:
        if size - directory > _LARGEST_DIRECTORY:
            raise BadResponse("the wheel has a central directory of more than 16 MiB")
        more = _part(file, connections, authorization, f"bytes={directory}-{start - 1}")
        if more is None or (more[0], more[1]) != (size, directory) or len(more[2]) != start - directory:
            raise BadResponse("the server sends another part of the wheel than it was asked for")
        start, content = directory, more[2] + content
    return _names(_Suffix(size, start, content))


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
) -> Response | None:
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


def _start_of_directory(start: int, content: bytes) -> int:
    """Return where the central directory of an archive begins, from the end of the archive."""
    end = content.rfind(b"PK\5\6")
    if end < 0 or len(content) - end < 22:
        raise BadResponse("the file is not a wheel")
    offset = int.from_bytes(content[end + 16 : end + 20], "little")
    length = int.from_bytes(content[end + 12 : end + 16], "little")
    if offset == 0xFFFFFFFF or length == 0xFFFFFFFF:
        wide = content.rfind(b"PK\6\6")
        if wide < 0 or len(content) - wide < 56:
            raise BadResponse("the file is not a wheel")
        offset = int.from_bytes(content[wide + 48 : wide + 56], "little")
    if offset > start + end:
        raise BadResponse("the file is not a wheel")
    return offset


def _names(content: io.RawIOBase | io.BufferedIOBase | _Suffix) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(content) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, UnicodeDecodeError, OverflowError):
        raise BadResponse("the file is not a wheel") from None


class _Suffix(io.RawIOBase):
    """A file of which only the end is known."""

    def __init__(self, size: int, start: int, content: bytes) -> None:
        self._size = size
        self._start = start
        self._content = content
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence])
        return self._position

    def read(self, size: int = -1) -> bytes:
        first = self._position - self._start
        if first < 0:
            raise ValueError("not known")
        found = self._content[first:] if size is None or size < 0 else self._content[first : first + size]
        self._position += len(found)
        return found
