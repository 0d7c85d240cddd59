"""How a program ended."""

import os

from .lean_typing import NamedTuple, Optional


class Outcome(NamedTuple):
    """``status`` is what a shell would say: 0 to 255, 128 + n after signal n, 127 not found, 126 not executable.

    ``signal``: the signal that ended it, or 0. ``stopped``: SIGTERM had arrived before. ``killed``: we sent SIGKILL.
    ``output``: the end of what it wrote, to standard error or where we listened. ``error``: why it did not start.
    ``oom_kills``: how many processes the kernel killed meanwhile for want of memory; None where it does not say.
    """

    status: int
    signal: int = 0
    stopped: bool = False
    killed: bool = False
    output: bytes = b""
    error: str = ""
    oom_kills: Optional[int] = None


def status_of(wait_status: int) -> int:
    """Return what a shell would say of a wait status."""
    if os.WIFSIGNALED(wait_status):
        return 128 + os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status)
