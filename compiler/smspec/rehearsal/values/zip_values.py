"""zip archives: `.npz` files of numpy, `.pt` files of torch, `.keras`, and others; names and times do not count."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping

from smspec.rehearsal.values import pickle_values
from smspec.rehearsal.values.leaf import Leaves, Unreadable
from smspec.rehearsal.values.members import MOST_BYTES, values_of

_PICKLE = "/data.pkl"


def decode(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of all members; a file of torch has tensors, whose numbers are in members of their own."""
    if data[:4] != b"PK\x03\x04":
        raise Unreadable
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise Unreadable
            members = {member.filename: archive.read(member) for member in archive.infolist() if not member.is_dir()}
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, zlib.error):
        raise Unreadable from None
    main = next((name for name in members if name.endswith(_PICKLE)), None)
    if main is not None:
        return _of_torch(members, main.removesuffix("data.pkl"))
    return values_of(members.items(), decode_member)


def _of_torch(members: Mapping[str, bytes], root: str) -> Leaves:
    """Return the values of the pickled object, with the bytes of each storage in place of its key."""
    storages = {
        name.removeprefix(f"{root}data/"): content
        for name, content in members.items()
        if name.startswith(f"{root}data/")
    }
    return pickle_values.decode(members[f"{root}data.pkl"], storages)
