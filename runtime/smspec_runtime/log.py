"""Our own log lines, on standard error, told apart by their prefix."""

import os
import select

PREFIX = "smspec: "
PATIENCE = 1.0
"""Seconds that the reader of our standard error has to make room."""
PIPE_ROOM = 4096
"""A pipe that can be written to takes this much (PIPE_BUF) at once."""


def log(message: str) -> None:
    """Write one line. Never fails, never waits for long."""
    line = f"{PREFIX}{message}\n".encode("utf-8", "replace")
    try:
        while line and select.select((), (2,), (), PATIENCE)[1]:
            line = line[os.write(2, line[:PIPE_ROOM]) :]
    except OSError:
        pass
