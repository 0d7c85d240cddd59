"""Our own log lines: few, short, on standard error, told apart by their prefix."""

import os

PREFIX = "smspec: "
STANDARD_ERROR = 2


def log(message: str) -> None:
    """Write one line. Never fails: a log line is not worth a training job."""
    line = f"{PREFIX}{message}\n".encode("utf-8", "replace")
    try:
        while line:
            line = line[os.write(STANDARD_ERROR, line) :]
    except OSError:
        pass
