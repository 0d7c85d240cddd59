"""Unpacks ``sourcedir.tar.gz`` inside its directory alone. Many releases of `tarfile` allow escapes, filter or not."""

import gzip
import hashlib
import os
import zlib

from .lean_typing import Dict, Iterator, Optional
from .refusal import Refused
from .tar_headers import ABOUT, BLOCK, FILES, ZEROS, checksum, number, read_about, short_name, text
from .unpacked_tree import UnpackedTree

MEMBERS = 20_000  # and files and directories in the end
BYTES = 2 << 30
RATIO = 200
_FREE_BYTES = 64 << 20  # Below this any ratio is allowed.
_CHUNK = 1 << 20
_ABOUT, _ABOUT_IN_ALL = 1 << 20, 32 << 20  # Bytes of an extended header; of all.


class _Unzipped(gzip.GzipFile):
    """Returns ``limit`` bytes at most, headers and padding too."""

    limit = 0
    _spent = 0

    def read(self, size: Optional[int] = -1) -> bytes:
        data = super().read(size)
        self.spend(len(data))
        return data

    def spend(self, size: int) -> None:
        self._spent += size
        if self._spent > self.limit:
            raise Refused(f"the archive unpacks to more than {self.limit} bytes")

    def chunks(self, size: int) -> Iterator[bytes]:
        if size < 0:
            raise ValueError("damaged header")
        for left in range(size, 0, -_CHUNK):
            data = self.read(wanted := min(left, _CHUNK))
            if len(data) < wanted:
                raise ValueError("it ends inside of a member")
            yield data
        self.read(-size % BLOCK)


def extract(archive: str, directory: str) -> Dict[str, str]:
    """Unpack into a new directory. Return path → input of `digest`."""
    try:
        with open(archive, "rb") as file, _Unzipped(fileobj=file) as content:
            content.limit = min(BYTES, max(_FREE_BYTES, RATIO * os.fstat(file.fileno()).st_size))
            tree = UnpackedTree(directory, MEMBERS, content.spend)
            _unpack(content, tree)
            while content.read(_CHUNK):
                pass  # To the checksum.
            tree.follow_links()
            return {path[1:]: file for path, file in tree.files.items()}
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise Refused(f"cannot unpack {archive} as a .tar.gz: {error}") from error


def digest(files: Dict[str, str]) -> str:
    """The SHA-256 of paths, executable bits and contents, as in the compiler."""
    lines = sorted(f"{path}\0{file}\n".encode("utf-8", "surrogateescape") for path, file in files.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()


def plain_name(name: str) -> str:
    """A relative path; empty for the directory itself. Raises Refused for one outside."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith("/") or ".." in parts:
        raise Refused(f"`{name}` in the archive lies outside of the code directory")
    return "/".join(part for part in parts if part not in ("", "."))


def _unpack(content: _Unzipped, tree: UnpackedTree) -> None:
    of_all: Dict[str, str] = {}
    about: Dict[str, str] = {}
    in_all = members = 0
    while True:
        head = content.read(BLOCK)
        if head == ZEROS or (not head and members):
            return
        if len(head) < BLOCK or number(head[148:156]) != checksum(head):
            raise ValueError("damaged header")
        kind, size = head[156:157], number(head[124:136])
        if kind in ABOUT:
            in_all += BLOCK + size
            if size > _ABOUT or in_all > _ABOUT_IN_ALL:
                limits = f"{_ABOUT}, {_ABOUT_IN_ALL} in all"
                raise Refused(f"a header of the archive takes {size} bytes; the maximum is {limits}")
            (of_all if kind == b"g" else about).update(read_about(kind, b"".join(content.chunks(size))))
            continue
        members += 1
        if members > MEMBERS:
            raise Refused(f"the archive has more than {MEMBERS} members")
        _unpack_member(head, {**of_all, **about}, content, tree)
        about = {}


def _unpack_member(head: bytes, about: Dict[str, str], content: _Unzipped, tree: UnpackedTree) -> None:
    kind, size = head[156:157], int(about.get("size") or number(head[124:136]))
    name, link = about.get("path") or short_name(head), about.get("linkpath") or text(head[157:257])
    plain = plain_name(name)
    path = plain and "/" + plain
    if kind == b"5" or (kind == b"\0" and name.endswith("/")):  # Old archives mark directories so.
        tree.add_directory(path)
    elif path and kind == b"2":
        tree.add_link(path, link)
    elif path and kind == b"1":
        tree.add_hard_link(path, "/" + plain_name(link))
    elif path and kind in FILES and "sparse" not in about:
        tree.add_file(path, number(head[100:108]), content.chunks(size))
    else:
        raise Refused(f"`{name}` in the archive is neither a file, a directory nor a link")
