"""How smspec ends the programs that it starts for a run: each of them ends when its stdin does."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end_by_closing_stdin(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close the stdin of a process and wait until it has ended; kill it after ``seconds``."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
