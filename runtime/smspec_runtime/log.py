"""Log lines on standard error."""

import os
import select

PIPE_ROOM = 4096  # A writable pipe accepts PIPE_BUF at once.


def log(message: str) -> None:
    """Write one line. Never fails; waits a second for space."""
    line = f"smspec: {message}\n".encode("utf-8", "replace")
    try:
        while line and select.select((), (2,), (), 1)[1]:
            line = line[os.write(2, line[:PIPE_ROOM]) :]
    except OSError:
        pass
