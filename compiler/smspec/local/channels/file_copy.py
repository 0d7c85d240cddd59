"""Copy a file: by reference if the file system can share blocks, else in parts, so that progress can be shown."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

PART = 16 << 20
"""Bytes that are copied between two checks of signals and progress."""

_BLOCK = 1 << 20
_FICLONE = 0x40049409
_NO_SHARING = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM, errno.ENOSYS)


def copied(source: str, target: str) -> Iterator[int]:
    """Create ``target``, a new file with the bytes of ``source``; yield the size of each part.

    It is never a link: changes to it never affect ``source``.
    """
    if _cloned(source, target):
        yield os.path.getsize(target)
        return
    with open(source, "rb") as original, open(target, "wb") as copy:
        yield from _in_kernel(original, copy)
        yield from _in_blocks(original, copy)


def shares_blocks(source: str, target: str) -> bool:
    """Return whether a copy of ``source`` at ``target`` takes no space; remove the copy."""
    try:
        return _cloned(source, target)
    finally:
        if os.path.lexists(target):
            os.unlink(target)


def _cloned(source: str, target: str) -> bool:
    if sys.platform == "darwin":
        return _cloned_by_apfs(source, target)
    if not sys.platform.startswith("linux"):
        return False
    with open(source, "rb") as original, open(target, "wb") as clone:
        try:
            fcntl.ioctl(clone, _FICLONE, original.fileno())
        except OSError as fault:
            if fault.errno not in _NO_SHARING:
                raise
            return False
    return True


def _cloned_by_apfs(source: str, target: str) -> bool:
    import ctypes  # imported late: only macOS needs it

    try:
        clonefile = ctypes.CDLL(None).clonefile
    except AttributeError:
        return False
    if clonefile(os.fsencode(source), os.fsencode(target), 0):
        return False
    os.chmod(target, 0o644)  # the mode is copied too
    return True


def _in_kernel(original: BinaryIO, copy: BinaryIO) -> Iterator[int]:
    """Copy with the kernel, which on some file systems copies nothing."""
    if not hasattr(os, "copy_file_range"):
        return
    offset = 0
    while True:
        try:
            count = os.copy_file_range(original.fileno(), copy.fileno(), PART, offset, offset)
        except OSError as fault:
            if fault.errno not in _NO_SHARING:
                raise
            count = 0
        if not count:
            break
        offset += count
        yield count
    original.seek(offset)
    copy.seek(offset)


def _in_blocks(original: BinaryIO, copy: BinaryIO) -> Iterator[int]:
    """Copy the rest, if the kernel has not copied everything."""
    count = 0
    while block := original.read(_BLOCK):
        copy.write(block)
        count += len(block)
        if count >= PART:
            yield count
            count = 0
    if count:
        yield count
