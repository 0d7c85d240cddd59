"""A single file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os

from smspec.output.failures import OutputFailed, told
from smspec.output.shelter import sheltered


def write_whole(path: str, text: str) -> None:
    """Put a file in the place of another in one step. Raises `OutputFailed`; what was there before then still is."""
    import tempfile  # late: a build writes a tree instead

    beside = ""
    try:
        with sheltered():
            descriptor, beside = tempfile.mkstemp(
                prefix=f".{os.path.basename(path)}-", dir=os.path.dirname(path) or "."
            )
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # whatever the umask
            os.fsync(file.fileno())
        with sheltered():
            os.replace(beside, path)
            beside = ""
    except OSError as fault:
        raise OutputFailed(f"`{path}` was not written: {told(fault)}") from fault
    finally:
        if beside:
            with contextlib.suppress(OSError), sheltered():
                os.unlink(beside)
