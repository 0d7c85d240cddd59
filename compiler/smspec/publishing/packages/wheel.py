"""A wheel: its members, checked against its RECORD.

https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from smspec.publishing.publication import PublishFailed
from smspec.service.requirement_lines import normalized

_CHUNK = 1 << 20
_LARGEST_TEXT = 16 << 20
"""Bytes of a member that is read as a whole; a RECORD of 100,000 files has about 10 MB."""

_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError)
_FAULTS_OF_ZIP = (*_FAULTS, UnicodeDecodeError, struct.error, IndexError)
"""What zipfile raises for a file that is damaged, encrypted, or compressed in a way that it does not know."""

_HASHES = ("sha256", "sha384", "sha512")
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")
_LONGEST_NAME = 255
_WHITEOUT = ".wh."
"""The beginning of a name that removes a file of a lower layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in a wheel. ``digest``: algorithm and value in its RECORD."""

    path: str
    size: int
    is_executable: bool
    digest: tuple[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel on disk. ``name`` is normalized; ``info`` its directory with metadata; ``rows``: those of its RECORD."""

    path: str
    name: str
    info: str
    members: tuple[Member, ...]
    rows: tuple[tuple[str, str, str], ...]

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield the content of a member in parts. Raise PublishFailed if it is not that of the RECORD."""
        digest = hashlib.new(member.digest[0]) if member.digest else None
        size = 0
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(member.path) as file:
                while chunk := file.read(_CHUNK):
                    size += len(chunk)
                    if digest is not None:
                        digest.update(chunk)
                    yield chunk
        except _FAULTS_OF_ZIP:
            raise self.rejected(f"`{member.path[:200]}` in it is damaged") from None
        except OSError as fault:
            raise _unreadable(self.path, fault) from None
        if size != member.size or (digest is not None and member.digest != (digest.name, _encoded(digest.digest()))):
            raise self.rejected(f"`{member.path[:200]}` in it does not match its RECORD")

    def content(self, path: str) -> bytes | None:
        """Return a member as a whole; None if there is none. Raise PublishFailed."""
        member = next((each for each in self.members if each.path == path), None)
        if member is None:
            return None
        if member.size > _LARGEST_TEXT:
            raise self.rejected(f"`{path}` in it has {member.size:,} bytes")
        return b"".join(self.chunks(member))

    def text(self, name: str) -> str | None:
        """Return a file with metadata; None if there is none. Raise PublishFailed."""
        content = self.content(f"{self.info}/{name}")
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            raise self.rejected(f"its `{name}` is not UTF-8") from None

    def rejected(self, why: str) -> PublishFailed:
        """Return the error that the wheel cannot be installed, for a reason."""
        return rejected(self.path, why)


def rejected(path: str, why: str) -> PublishFailed:
    """Return the error that a wheel cannot be installed, for a reason."""
    return PublishFailed(1, f"cannot install `{path.rpartition('/')[2]}`: {why}")


def read_wheel(path: str, name: str) -> Wheel:
    """Return a wheel of a project. Raise PublishFailed unless pip would install it, and its RECORD lists every file."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            record_name = _record_name(path, [info.filename for info in infos], name)
            if archive.getinfo(record_name).file_size > _LARGEST_TEXT:
                raise rejected(path, f"its RECORD has {archive.getinfo(record_name).file_size:,} bytes")
            record = archive.read(record_name)
    except _FAULTS_OF_ZIP:
        raise rejected(path, "the file is not a wheel") from None
    except OSError as fault:
        raise _unreadable(path, fault) from None
    rows = _rows(path, record)
    info = record_name.rpartition("/")[0]
    members = tuple(_members(path, infos, {row[0]: row[1] for row in rows}, info))
    wheel = Wheel(path=path, name=name, info=info, members=members, rows=rows)
    _check_version(wheel)
    return wheel


def _record_name(path: str, names: list[str], name: str) -> str:
    folders = {each.partition("/")[0] for each in names if each.partition("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise rejected(path, f"it has {len(folders)} directories `*.dist-info`, not one")
    folder = folders.pop()
    if normalized(folder.partition("-")[0]) != name:
        raise rejected(path, f"it is not of the project `{name}`: it has `{folder[:100]}`")
    return f"{folder}/RECORD"


def _rows(path: str, record: bytes) -> tuple[tuple[str, str, str], ...]:
    try:
        rows = list(csv.reader(io.StringIO(record.decode("utf-8"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        rows = [[]]
    rows = [row for row in rows if row] if any(rows) else rows
    if any(len(row) != 3 for row in rows):
        raise rejected(path, "its RECORD is malformed")
    if len({row[0] for row in rows}) != len(rows):
        raise rejected(path, "its RECORD lists a file twice")
    return tuple((row[0], row[1], row[2]) for row in rows)


def _members(path: str, infos: list[zipfile.ZipInfo], hashes: dict[str, str], info: str) -> Iterator[Member]:
    seen = set()
    for each in infos:
        if each.is_dir():
            _check_path(path, each.filename.rstrip("/"))
            continue
        name = each.filename
        _check_path(path, name)
        if name in seen:
            raise rejected(path, f"`{name[:200]}` is twice in it")
        seen.add(name)
        is_unhashed = name in [f"{info}/{one}" for one in _UNHASHED]
        if not is_unhashed and name not in hashes:
            raise rejected(path, f"its RECORD does not list `{name[:200]}`")
        mode = each.external_attr >> 16
        yield Member(
            path=name,
            size=each.file_size,
            # A symbolic link is a file with its target, as for pip.
            is_executable=stat.S_ISREG(mode) and bool(mode & 0o111),
            digest=None if is_unhashed else _digest(path, name, hashes[name]),
        )
    for name in hashes.keys() - seen:
        raise rejected(path, f"`{name[:200]}` is in its RECORD, but not in it")


def _check_path(path: str, name: str) -> None:
    """Check that a member is below the directory where it is unpacked, and that a layer can contain it."""
    parts = name.split("/")
    if (
        not all(parts)
        or any(part in (".", "..") or part.startswith(_WHITEOUT) for part in parts)
        or any(len(part.encode("utf-8", "surrogateescape")) > _LONGEST_NAME for part in parts)
        or re.search(r"[\x00-\x1f\x7f\\\ud800-\udfff]", name)
    ):
        raise rejected(path, f"it has a file named `{name[:200]}`")


def _digest(path: str, name: str, text: str) -> tuple[str, str]:
    algorithm, _, value = text.partition("=")
    if algorithm not in _HASHES:
        raise rejected(path, f"its RECORD has no SHA-256 of `{name[:200]}`")
    return algorithm, value.rstrip("=")


def _check_version(wheel: Wheel) -> None:
    text = wheel.text("WHEEL") or ""
    version = re.search(r"(?m)^Wheel-Version:\s*(\d+)", text)
    if version is None or version[1] != "1":
        raise wheel.rejected("it does not have version 1 of the wheel format")


def _unreadable(path: str, fault: OSError) -> PublishFailed:
    return PublishFailed(3, f"cannot read `{path}`: {(fault.strerror or str(fault)).lower()}")


def record_hash(content: bytes) -> str:
    """Return the SHA-256 of a file as a RECORD has it."""
    return f"sha256={_encoded(hashlib.sha256(content).digest())}"


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
