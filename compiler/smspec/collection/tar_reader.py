"""The members of a tar archive, in order, from a stream.

`tarfile` reads a header of any size into memory, and older releases accept headers that make it loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from smspec.collection.faults import ResultRefused
from smspec.collection.gzip_reader import GzipReader
from smspec.source.frozen import dataclass
from smspec_runtime.tar_headers import ABOUT, BLOCK, FILES, ZEROS, checksum, number, read_about, short_name, text

MOST_MEMBERS = 1_000_000
"""A model has seldom more than thousands; each costs an entry of the file system."""

_LONGEST_END = 1 << 20
"""Bytes. Programs fill up a record, which has 10 KiB, and on tapes up to 1 MiB."""
_LARGEST_ABOUT, _ABOUT_IN_ALL = 1 << 20, 256 << 20
"""Bytes of one extended header, and of all."""


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
