"""Unpacks ``sourcedir.tar.gz``: regular files and directories, nothing else, and never outside the directory given.

The standard library's own extraction has let archives out of their directory in many Python releases, filter or not,
and a base image may carry any of them. Here names are reduced to plain relative ones and files are written by hand.
"""

import gzip
import hashlib
import os
import tarfile
import zlib
from typing import IO, Dict

from .log import log
from .refusal import Refused

MEMBERS = 20_000
BYTES = 2 << 30
RATIO = 200
DEPTH = 100
_FREE_BYTES = 64 << 20
"""Below this no ratio is looked at: a small archive of zeros is no bomb."""
_CHUNK = 1 << 20
_TOO_LARGE = "the archive unpacks to more than {} bytes"


def extract(archive: str, directory: str) -> Dict[str, str]:
    """Unpack into a directory that is new and empty. Return the files: path → what `digest` is made of."""
    try:
        with open(archive, "rb") as file:
            limit = max(_FREE_BYTES, RATIO * os.fstat(file.fileno()).st_size)
            with gzip.GzipFile(fileobj=file) as unzipped:
                limit = min(limit, BYTES)
                content = _Limited(unzipped, limit)
                with tarfile.open(fileobj=content, mode="r|") as members:  # type: ignore[call-overload]  # only read() is used
                    files = _extract_members(members, directory, limit)
                while content.read(_CHUNK):
                    pass  # To the end, so that the checksum is looked at; tarfile stops before it.
    except (tarfile.TarError, EOFError, zlib.error, ValueError, ArithmeticError, LookupError) as error:
        raise Refused(f"{archive} is not a sound .tar.gz: {error}") from error
    except OSError as error:
        raise Refused(f"cannot unpack {archive}: {error}") from error
    return files


def digest(files: Dict[str, str]) -> str:
    """Return the SHA-256 that the compiler gave these files: of every path, executable bit and content."""
    lines = sorted(f"{path}\0{file}\n".encode("utf-8", "surrogateescape") for path, file in files.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()


class _Limited:
    """A stream that may give so many bytes and no more, whatever they are: content, padding or headers."""

    def __init__(self, stream: gzip.GzipFile, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._left = limit

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise Refused(_TOO_LARGE.format(self._limit))
        return data


def _extract_members(members: tarfile.TarFile, directory: str, limit: int) -> Dict[str, str]:
    files = {}
    size = 0
    for number, member in enumerate(members, 1):
        if number > MEMBERS:
            raise Refused(f"the archive has more than {MEMBERS} members")
        name = plain_name(member.name)
        if name.count("/") > DEPTH:
            raise Refused(f"the archive has directories more than {DEPTH} deep")
        if name and name != os.path.normpath(member.name):
            log(f"archive: `{member.name}` is unpacked as `{name}`")
        if not name and not member.isdir():
            log(f"archive: `{member.name}` is left out: no name remains of it")
        elif member.isdir():
            os.makedirs(os.path.join(directory, name), exist_ok=True)
        elif member.isfile():
            size += member.size
            if size > limit:  # A file with holes is larger than what the archive holds of it.
                raise Refused(_TOO_LARGE.format(limit))
            content = members.extractfile(member)
            assert content is not None
            mode = _mode(member.mode)
            sha256 = _write(content, os.path.join(directory, name), mode)
            files[name] = "{}\0{}".format("x" if mode & 0o100 else "-", sha256)
        else:
            log(f"archive: `{member.name}` is left out: only files and directories are unpacked")
    return files


def plain_name(name: str) -> str:
    """Return a member's name as a relative path that cannot lead out of a directory; empty if nothing remains."""
    parts = name.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _mode(mode: int) -> int:
    """Return the permissions a file is given: nobody else may write, and if its owner cannot run it nobody can."""
    mode &= 0o755
    if not mode & 0o100:
        mode &= ~0o111
    return mode | 0o600


def _write(content: IO[bytes], path: str, mode: int) -> str:
    """Write a file and return its SHA-256."""
    written = hashlib.sha256()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.unlink(path)  # The same name twice: the later member counts, as with tar.
    except FileNotFoundError:
        pass
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        while True:
            chunk = content.read(_CHUNK)
            if not chunk:
                break
            file.write(chunk)
            written.update(chunk)
        os.fchmod(descriptor, mode)
    return written.hexdigest()
