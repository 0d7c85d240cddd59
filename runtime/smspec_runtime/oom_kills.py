"""The number of processes of this control group that ran out of memory."""

from .lean_typing import Optional


def count_oom_kills() -> Optional[int]:
    """None: unreadable."""
    groups = {"memory": "", "": ""}
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                _, name, group = line.rstrip("\n").split(":", 2)
                groups[name] = group
    except (OSError, ValueError):
        pass
    old, new = "memory{}/memory.oom_control", "{}/memory.events"
    # A container may see its own group as the root.
    for path in (old.format(groups["memory"]), old.format(""), new.format(groups[""]), new.format("")):
        try:
            with open(f"/sys/fs/cgroup/{path}", encoding="ascii") as file:
                return int(file.read().split("oom_kill ")[1].split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return None
