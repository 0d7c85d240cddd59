"""How many processes of this container the kernel has killed for want of memory, as the control group counts them."""

from .lean_typing import Iterator, Optional

CGROUPS = "/sys/fs/cgroup"


def count_oom_kills() -> Optional[int]:
    """Return the count so far, or None where none can be read."""
    for path in _counters():
        try:
            with open(path, encoding="ascii") as file:
                for line in file:
                    name, _, number = line.partition(" ")
                    if name == "oom_kill":
                        return int(number)
        except (OSError, ValueError):
            continue
    return None


def _counters() -> Iterator[str]:
    """Yield where the count may stand: that of our group, then that of a container that sees its own group only."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            groups = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        groups = []
    places = [group for number, names, group in groups if "memory" in names.split(",")]
    yield from (f"{CGROUPS}/memory{place}/memory.oom_control" for place in [*places, ""])
    places = [group for number, names, group in groups if number == "0"]
    yield from (f"{CGROUPS}{place}/memory.events" for place in [*places, ""])
