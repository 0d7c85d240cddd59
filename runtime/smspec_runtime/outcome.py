"""How a program ended."""

import os

from .lean_typing import NamedTuple, Optional


class Outcome(NamedTuple):
    """``status`` is what a shell would say: 128 + n after signal n, 127 not found, 126 not executable.

    ``signal`` that ended it, or 0; ``stopped``: SIGTERM came first; ``killed``: we sent SIGKILL; ``output``: the end of
    it; ``error``: why it did not start; ``oom_kills``: of any process meanwhile, None where the kernel does not say.
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
    return os.WEXITSTATUS(wait_status) if os.WIFEXITED(wait_status) else 128 + os.WTERMSIG(wait_status)
