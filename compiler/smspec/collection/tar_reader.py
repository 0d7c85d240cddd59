"""Unpack a stored result: the model below ``model``, the output data below ``output``.

The members of an archive are read in order, from a stream that is checked to the checksum at its end. `tarfile` reads a
header of any size into memory, and older releases accept headers that make it loop. Links are made last, when nothing
is written any more: `tarfile` with its filter was bypassed twice through links.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from smspec.collection.result_tree import ARCHIVE, ResultRefused, ResultTree, StoredFile, StoredResult, relative
from smspec.source.frozen import dataclass
from smspec_runtime.tar_headers import ABOUT, BLOCK, FILES, ZEROS, checksum, number, read_about, short_name, text

_GZIP = 31
"""The window of `zlib` that reads the header of gzip, and checks the CRC-32 and the size at its end."""
_PIECE = 1 << 18

MOST_MEMBERS = 1_000_000
"""A model has seldom more than thousands; each costs an entry of the file system."""

_LONGEST_END = 1 << 20
"""Bytes. Programs fill up a record, which has 10 KiB, and on tapes up to 1 MiB."""
_LARGEST_ABOUT, _ABOUT_IN_ALL = 1 << 20, 256 << 20
"""Bytes of one extended header, and of all."""


class GzipReader:
    """Decompresses no more than it is asked for, so a small archive cannot fill the memory. ``name`` is for errors."""

    def __init__(self, name: str, blocks: Iterator[bytes]) -> None:
        self._name = name
        self._blocks = blocks
        self._member = zlib.decompressobj(_GZIP)
        self._left = b""
        self._is_new = True

    def exactly(self, size: int) -> bytes:
        """Return ``size`` bytes. Raise `ResultRefused` if there are fewer."""
        data = b"".join(self.pieces(size))
        if len(data) != size:
            raise self.damaged("it ends within a file")
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield ``size`` bytes in pieces, fewer at the end of the file."""
        while size:
            piece = self._piece(min(size, _PIECE))
            if not piece:
                return
            size -= len(piece)
            yield piece

    def finish(self) -> None:
        """Read the rest, for its checksum and for that of the blocks."""
        while self._piece(_PIECE):
            pass

    def damaged(self, why: str) -> ResultRefused:
        return ResultRefused(f"`{self._name}` is damaged: {why}")

    def _piece(self, most: int) -> bytes:
        while True:
            if not self._left:
                self._left = next(self._blocks, b"")
                if not self._left:
                    if not self._is_new:
                        raise self.damaged("it ends before its checksum")
                    return b""
            if self._is_new:
                self._left = self._left.lstrip(b"\0")  # gzip ignores zeros between and after its members
                if not self._left:
                    continue
                self._is_new = False
            try:
                piece = self._member.decompress(self._left, most)
            except zlib.error as fault:
                raise self.damaged(f"it is not a gzip file, or its checksum is wrong ({fault})") from None
            self._left = self._member.unconsumed_tail
            if self._member.eof:
                self._left = self._member.unused_data
                self._member, self._is_new = zlib.decompressobj(_GZIP), True
            if piece:
                return piece


@dataclass(frozen=True, slots=True, kw_only=True)
class TarMember:
    """``kind`` is one of file, directory, link, hard link, and other. ``target``: of a link."""

    kind: str
    name: str
    target: str
    size: int
    is_executable: bool


def tar_members(content: GzipReader) -> Iterator[TarMember]:
    """Yield each member; the caller reads the ``size`` bytes of a file, and nothing else, before the next.

    Raise `ResultRefused` for a damaged archive, or one with too many members.
    """
    of_all: dict[str, str] = {}
    about: dict[str, str] = {}
    in_all = count = 0
    while True:
        head = b"".join(content.pieces(BLOCK))
        if head == ZEROS or (not head and count):
            _finish(content)
            return
        try:
            if len(head) < BLOCK or number(head[148:156]) != checksum(head):
                raise content.damaged("a header has a wrong checksum")
            kind, size = head[156:157], number(head[124:136])
            if kind in ABOUT:
                in_all += BLOCK + size
                if not 0 <= size <= _LARGEST_ABOUT or in_all > _ABOUT_IN_ALL:
                    raise content.damaged("an extended header is too large")
                found = read_about(kind, content.exactly(size + -size % BLOCK)[:size])
                (of_all if kind == b"g" else about).update(found)
                continue
            member = _member(head, {**of_all, **about})
        except ValueError:
            raise content.damaged("a header is malformed") from None
        about = {}
        count += 1
        if count > MOST_MEMBERS:
            raise ResultRefused(f"the archive has more than {MOST_MEMBERS:,} members")
        yield member
        if member.kind == "file":
            content.exactly(-member.size % BLOCK)


def _finish(content: GzipReader) -> None:
    """Read the rest, for its checksum. Raise `ResultRefused` unless it is the zeros that fill the last record."""
    rest = 0
    for piece in content.pieces(_LONGEST_END + 1):
        rest += len(piece)
        if piece.strip(b"\0"):
            raise content.damaged("it has data after its end, which no program would unpack")
    if rest > _LONGEST_END:
        raise content.damaged(f"it has more than {_LONGEST_END >> 20} MiB of zeros after its end")
    content.finish()


def _member(head: bytes, about: dict[str, str]) -> TarMember:
    kind, size = head[156:157], int(about.get("size") or number(head[124:136]))
    if size < 0:
        raise ValueError
    name = about.get("path") or short_name(head)
    if "sparse" in about or kind == b"S":
        raise ResultRefused(f"`{name}` is stored as a sparse file, which smspec cannot unpack")
    words = {b"5": "directory", b"2": "link", b"1": "hard link"}
    if kind in FILES:
        # Old archives mark a directory by the end of its name.
        word = "directory" if kind == b"\0" and name.endswith("/") else "file"
    else:
        word = words.get(kind, "other")
    return TarMember(
        kind=word,
        name=name,
        target=about.get("linkpath") or text(head[157:257]),
        size=size if word == "file" else 0,
        is_executable=bool(number(head[100:108]) & 0o100),
    )


def unpack(result: StoredResult, tree: ResultTree, warn: Callable[[str], None], advance: Callable[[int], None]) -> None:
    """Write all files of a result. Raise `ResultRefused` for a damaged or unsafe one, OSError for a full disk.

    ``advance`` gets the bytes that were read of each step.
    """
    tree.need(result.size)
    for file in result.files:
        blocks = _counted(file, advance)
        if file.name.endswith(ARCHIVE) and "/" not in file.name:
            unpack_archive(GzipReader(file.name, blocks), file.name.removesuffix(ARCHIVE), tree, warn)
        else:
            tree.add_file(file.name, file.size, blocks)
    tree.finish()


def unpack_archive(content: GzipReader, directory: str, tree: ResultTree, warn: Callable[[str], None]) -> None:
    """Write the members of an archive to a directory of the tree. Raise as `unpack`; the caller finishes the tree."""
    tree.add_directory(directory)
    is_empty = True
    for member in tar_members(content):
        is_empty = False
        # A member's own name is judged before it gets a directory above it.
        name = f"{directory}/{relative(member.name)}"
        if member.kind == "directory":
            tree.add_directory(name)
        elif member.kind == "file":
            tree.add_file(name, member.size, content.pieces(member.size), is_executable=member.is_executable)
        elif member.kind == "link":
            tree.add_link(name, member.target)
        elif member.kind == "hard link":
            tree.add_hard_link(name, f"{directory}/{relative(member.target)}")
        else:
            warn(f"`{name}` is not a file, directory, or link; smspec skips it")
    if is_empty:
        warn(f"`{directory}{ARCHIVE}` contains no files: the job saved none, or what wrote the archive failed")


def _counted(file: StoredFile, advance: Callable[[int], None]) -> Iterator[bytes]:
    for block in file.blocks():
        advance(len(block))
        yield block
