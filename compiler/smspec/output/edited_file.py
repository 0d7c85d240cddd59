"""Replace the text of an author's file: its mode stays, and a file that changed meanwhile is not touched."""

from __future__ import annotations

import os
import re
import stat

from smspec.diagnostics.quoting import system_reason
from smspec.output.atomic_file import write_whole
from smspec.output.failures import OutputFailed
from smspec.source.real_file import open_real, read_bounded

_GENERATED = re.compile(rb"@generated|code generated .*do not edit|generated .*do not (?:edit|modify)", re.IGNORECASE)
_HEAD = 2048
_ANYONE_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


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
