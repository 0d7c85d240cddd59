"""A single file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os

from smspec.diagnostics.external_messages import reason
from smspec.output.deferred_signals import signals_deferred
from smspec.output.failures import OutputFailed

_UNFINISHED = ".smspec-unfinished"


def write_whole(path: str, text: str) -> None:
    """Put a file in the place of another in one step. Raises `OutputFailed`; what was there before then still is."""
    import tempfile  # late: a build writes a tree instead

    beside, directory, prefix = "", os.path.dirname(path) or os.curdir, f".{os.path.basename(path)}-"
    try:
        _remove_unfinished(directory, prefix)
        with signals_deferred():
            descriptor, beside = tempfile.mkstemp(prefix=prefix, suffix=_UNFINISHED, dir=directory)
            _take(descriptor)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # whatever the umask
            os.fsync(file.fileno())
        with signals_deferred():
            os.replace(beside, path)
            beside = ""
    except OSError as fault:
        raise OutputFailed(f"cannot write `{path}`: {reason(fault)}") from fault
    finally:
        if beside:
            with contextlib.suppress(OSError), signals_deferred():
                os.unlink(beside)


def _remove_unfinished(directory: str, prefix: str) -> None:
    """Remove what was left behind by those who were killed; who is alive holds a lock on what they write."""
    with os.scandir(directory) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(_UNFINISHED)]
    for path in left:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                if _take(descriptor):
                    os.unlink(path)
            finally:
                os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Return whether nobody else writes a file, which from now on is ours; False too where files cannot be locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
