"""Write a single file atomically, and what prevents it or the writing of a tree.

When the text of an author's file is replaced, its mode stays, and a file that changed meanwhile is not touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Iterable

from smspec.diagnostics.quoting import system_reason
from smspec.source.real_file import open_real, read_bounded
from smspec.workspace.deferred_signals import signals_deferred

_UNFINISHED = ".smspec-unfinished"

_GENERATED = re.compile(rb"@generated|code generated .*do not edit|generated .*do not (?:edit|modify)", re.IGNORECASE)
_HEAD = 2048
_ANYONE_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class OutputRefused(Exception):
    """Writing would overwrite files that smspec did not create. Nothing was changed."""


class OutputFailed(Exception):
    """The disk, the permissions, or a file that changed meanwhile prevented it. The previous output is still there."""


def write_whole(path: str, text: str, *, mode: int = 0o644) -> None:
    """Replace a file in one step. Raise `OutputFailed`; the previous file is then still there."""
    write_whole_bytes(path, (text.encode(),), mode=mode)


def write_whole_bytes(path: str, chunks: Iterable[bytes], *, mode: int = 0o644) -> None:
    """Replace a file in one step, as `write_whole`. Raises also what ``chunks`` raises."""
    import tempfile  # imported late: a build writes a tree instead

    beside, directory, prefix = "", os.path.dirname(path) or os.curdir, f".{os.path.basename(path)}-"
    try:
        remove_unfinished(directory)
        with signals_deferred():
            descriptor, beside = tempfile.mkstemp(prefix=prefix, suffix=_UNFINISHED, dir=directory)
            _take(descriptor)
            while not os.fstat(descriptor).st_nlink:  # a different command took it for one of a killed writer
                os.close(descriptor)
                descriptor, beside = tempfile.mkstemp(prefix=prefix, suffix=_UNFINISHED, dir=directory)
                _take(descriptor)
        with open(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fchmod(file.fileno(), mode)  # whatever the umask
            os.fsync(file.fileno())
        with signals_deferred():
            os.replace(beside, path)
            beside = ""
    except OSError as fault:
        raise OutputFailed(f"cannot write `{path}`: {system_reason(fault)}") from fault
    finally:
        if beside:
            with contextlib.suppress(OSError), signals_deferred():
                os.unlink(beside)


def remove_unfinished(directory: str) -> None:
    """Remove the files of killed writers, whatever they wrote; a live writer locks its file."""
    left: list[str] = []
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        left = [
            entry.path
            for entry in entries
            if entry.name.startswith(".")
            and entry.name.endswith(_UNFINISHED)
            and entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        ]
    for path in left:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if _take(descriptor):
                    os.unlink(path)
            finally:
                os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Return whether the file is now locked by this process; False too where files cannot be locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_generated(content: bytes) -> bool:
    """Return whether the comments at the start of a file say that a program writes it."""
    head = [line for line in content[:_HEAD].split(b"\n") if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"#")]
    return any(_GENERATED.search(line) for line in head)


def replace_content(path: str, before: bytes, after: bytes) -> None:
    """Replace the file at ``path``, links followed, in one step.

    Raise `OutputFailed` if the file is read-only, no regular file, or not ``before``; it stays unchanged.
    """
    try:
        real = os.path.realpath(path)
        with open(open_real(real), "rb", buffering=0) as file:
            mode = os.fstat(file.fileno()).st_mode
            if read_bounded(file, len(before)) != before:
                raise OutputFailed(f"`{path}` was changed meanwhile; run the command again")
    except OSError as fault:
        raise OutputFailed(f"cannot replace `{path}`: {system_reason(fault)}") from fault
    if not mode & _ANYONE_WRITES or not os.access(real, os.W_OK):
        raise OutputFailed(f"`{path}` is read-only")
    write_whole(real, after.decode("utf-8"), mode=stat.S_IMODE(mode))
