"""How a program ended."""

import os

from .lean_typing import NamedTuple, Optional


class Outcome(NamedTuple):
    """``status`` as in a shell: 128 + n after signal n, 127 not found, 126 not executable. ``stopped``: SIGTERM came
    first; ``killed``: we sent SIGKILL; ``output``: its end; ``error``: why it did not start; ``oom_kills``: of any
    process; None: not counted."""

    status: int
    signal: int = 0
    stopped: bool = False
    killed: bool = False
    output: bytes = b""
    error: str = ""
    oom_kills: Optional[int] = None


def status_of(wait_status: int) -> int:
    """The exit status in a shell for a wait status."""
    return os.WEXITSTATUS(wait_status) if os.WIFEXITED(wait_status) else 128 + os.WTERMSIG(wait_status)
