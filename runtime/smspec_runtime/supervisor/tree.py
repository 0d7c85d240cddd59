"""The processes below this one."""

import os

from ..lean_typing import Dict, List, Tuple


def adopt_orphans() -> None:
    """As process 1 does, where supported."""
    if os.getpid() == 1:
        return
    try:
        import _ctypes  # `ctypes` itself is slow to load.

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]  # None: what is loaded
        _ctypes.call_function(prctl, (36, 1, 0, 0, 0))  # PR_SET_CHILD_SUBREAPER
    except (ImportError, OSError, AttributeError):
        pass


def reap() -> Tuple[bool, Dict[int, int]]:
    """Whether children remain, and wait statuses of those that ended."""
    ended: Dict[int, int] = {}
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, ended
        if process == 0:
            return True, ended
        ended[process] = status


def signal_group(group: int, number: int) -> bool:
    """Whether it exists; 0 only checks."""
    try:
        os.killpg(group, number)
        return True
    except OSError:
        return False


def signal_strays(group: int, number: int) -> None:
    """Signal descendants outside of the group."""
    for process in _descendants():
        try:
            if os.getpgid(process) != group:
                os.kill(process, number)
        except OSError:
            pass


def _descendants() -> List[int]:
    children: Dict[int, List[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in filter(str.isdigit, names):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # pid (name, with any character) state parent …
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found = []
    level = [os.getpid()]
    while level:
        level = [child for process in level for child in children.get(process, [])]
        found += level
    return found
