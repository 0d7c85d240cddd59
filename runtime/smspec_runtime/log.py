"""Our own log lines: few, short, on standard error, told apart by their prefix."""

import os
import select

PREFIX = "smspec: "
PATIENCE = 1.0
"""Seconds that whoever reads our standard error has to make room."""
PIPE_ROOM = 4096
"""A pipe that can be written to takes this much (PIPE_BUF) without waiting."""


def log(message: str) -> None:
    """Write one line. Never fails, never waits for long: a log line is not worth a training job."""
    line = f"{PREFIX}{message}\n".encode("utf-8", "replace")
    try:
        while line and select.select((), (2,), (), PATIENCE)[1]:
            line = line[os.write(2, line[:PIPE_ROOM]) :]
    except OSError:
        pass
