"""How a program ended."""

import os

from .lean_typing import NamedTuple, Optional


class Outcome(NamedTuple):
    """``status`` as in a shell: 128 + n after signal n, 127 not found, 126 not executable. ``stopped``: after SIGTERM;
    ``killed``: we sent SIGKILL; ``output``: its end; ``error``: why it did not start; ``oom_kills`` None: unknown."""

    status: int
    signal: int = 0
    stopped: bool = False
    killed: bool = False
    output: bytes = b""
    error: str = ""
    oom_kills: Optional[int] = None


def status_of(wait_status: int) -> int:
    return os.WEXITSTATUS(wait_status) if os.WIFEXITED(wait_status) else 128 + os.WTERMSIG(wait_status)


def count_oom_kills() -> Optional[int]:
    """The processes of this control group that ran out of memory. None: unreadable."""
    groups = {"memory": "", "": ""}
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                _, name, group = line.rstrip("\n").split(":", 2)
                groups[name] = group
    except (OSError, ValueError):
        pass
    old, new = "memory{}/memory.oom_control", "{}/memory.events"
    # A container's own group may be the root.
    for path in (old.format(groups["memory"]), old.format(""), new.format(groups[""]), new.format("")):
        try:
            with open(f"/sys/fs/cgroup/{path}", encoding="ascii") as file:
                return int(file.read().split("oom_kill ")[1].split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return None
