"""Unpacks ``sourcedir.tar.gz``: files and directories only, and never outside of the directory given.

The standard library's own has let archives out in many releases, filter or not.
"""

import gzip
import hashlib
import os
import tarfile
import zlib
from typing import IO, Any, Dict, Optional

from .refusal import Refused

MEMBERS = 20_000
DEPTH = 100
BYTES = 2 << 30
RATIO = 200
_FREE_BYTES = 64 << 20  # Up to this no ratio counts: a few zeros are no bomb.
_CHUNK = 1 << 20
_ABOUT = (b"x", b"g", b"X", b"L", b"K")  # pax and GNU: names, links and more of the next member
_ABOUT_BYTES = 1 << 20
_ABOUT_HEADERS = 8


class _Header(tarfile.TarInfo):
    """Refuses what the standard library would read whole, by recursion or as something that it is not."""

    _about = 0  # headers, one after the other, that say something of the next member

    @classmethod
    def frombuf(cls, *buffer: Any) -> "_Header":
        try:
            header = super().frombuf(*buffer)
        except tarfile.HeaderError:
            if any(buffer[0]):  # Only zeros end an archive; tarfile would stop here as well.
                raise ValueError("damaged header") from None
            raise
        if header.size < 0 or (header.type in _ABOUT and header.size > _ABOUT_BYTES):
            raise Refused(f"a header of the archive takes {header.size} bytes; the maximum is {_ABOUT_BYTES}")
        cls._about = cls._about + 1 if header.type in _ABOUT else 0
        if cls._about > _ABOUT_HEADERS:
            raise Refused(f"a member of the archive has more than {_ABOUT_HEADERS} extended headers")
        return header


class _Unzipped(gzip.GzipFile):
    """Gives ``limit`` bytes at most, headers and padding too."""

    limit = 0
    _given = 0

    def read(self, size: Optional[int] = -1) -> bytes:
        data = super().read(size)
        self._given += len(data)
        self.check(self._given)
        return data

    def check(self, size: int) -> None:
        if size > self.limit:
            raise Refused(f"the archive unpacks to more than {self.limit} bytes")


def extract(archive: str, directory: str) -> Dict[str, str]:
    """Unpack into a directory that is new and empty. Return the files: path → what `digest` is made of."""
    try:
        with open(archive, "rb") as file, _Unzipped(fileobj=file) as content:
            content.limit = min(BYTES, max(_FREE_BYTES, RATIO * os.fstat(file.fileno()).st_size))
            with tarfile.open(fileobj=content, mode="r|", tarinfo=_Header) as members:
                files = _extract_members(members, directory)
            while content.read(_CHUNK):
                pass  # To the checksum: tarfile stops before it.
            return files
    except (OSError, tarfile.TarError, EOFError, zlib.error, ValueError, ArithmeticError, LookupError) as error:
        raise Refused(f"cannot unpack {archive} as a .tar.gz: {error}") from error


def digest(files: Dict[str, str]) -> str:
    """Return the SHA-256 of every path, executable bit and content, as the compiler does."""
    lines = sorted(f"{path}\0{file}\n".encode("utf-8", "surrogateescape") for path, file in files.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()


def plain_name(name: str) -> str:
    """Return a relative path; empty for the directory itself. Raises Refused for one that leads out of it."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith("/") or ".." in parts:
        raise Refused(f"`{name}` in the archive lies outside of the code directory")
    return "/".join(part for part in parts if part not in ("", "."))


def _extract_members(members: tarfile.TarFile, directory: str) -> Dict[str, str]:
    files = {}
    for number, member in enumerate(members, 1):
        if number > MEMBERS:
            raise Refused(f"the archive has more than {MEMBERS} members")
        name = plain_name(member.name)
        if name.count("/") > DEPTH:
            raise Refused(f"the archive has directories more than {DEPTH} deep")
        path = os.path.join(directory, name)
        if member.isdir():
            os.makedirs(path, exist_ok=True)
            continue
        source = members.extractfile(member) if name and member.isfile() and not member.issparse() else None
        if source is None:
            raise Refused(f"`{member.name}` in the archive is neither a file nor a directory")
        # Nobody else may write, and what its owner cannot run nobody can.
        mode = member.mode & (0o755 if member.mode & 0o100 else 0o644) | 0o600
        files[name] = f"{'x' if mode & 0o100 else '-'}\0{_write(source, path)}"
        os.chmod(path, mode)
    return files


def _write(source: IO[bytes], path: str) -> str:
    """Return the SHA-256. Of the same name twice the later member counts, as with tar."""
    written = hashlib.sha256()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for chunk in iter(lambda: source.read(_CHUNK), b""):
            file.write(chunk)
            written.update(chunk)
    return written.hexdigest()
