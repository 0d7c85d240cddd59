"""tar archives: times, owners, and the order of the members do not count."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator

from smspec.rehearsal.values.leaf import Leaves, Unreadable
from smspec.rehearsal.values.members import MOST_BYTES, values_of

_MAGIC = slice(257, 262)


def decode(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of all files in the archive, and where its links point."""
    if data[_MAGIC] != b"ustar":
        raise Unreadable
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            members = archive.getmembers()
            if sum(member.size for member in members) > MOST_BYTES:
                raise Unreadable
            links: Leaves = {member.name: member.linkname for member in members if member.issym()}
            return values_of(_files(archive, members), decode_member) | links
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError):
        raise Unreadable from None


def _files(archive: tarfile.TarFile, members: list[tarfile.TarInfo]) -> Iterator[tuple[str, bytes]]:
    for member in members:
        file = archive.extractfile(member) if member.isfile() else None
        if file is not None:
            yield member.name.removeprefix("./"), file.read()
