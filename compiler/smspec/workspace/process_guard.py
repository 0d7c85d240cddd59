"""Run one command and kill everything that it started with it: a standalone program, ``guard.py WORD…``.

Its stdin is a pipe that only smspec writes to. When that ends, smspec has died or wants to stop, and every process
below this one is killed: children, orphans, and those in other sessions. The same happens to what a command leaves
behind. The exit status is the command's, 128 + n if signal n ended it.
"""

from __future__ import annotations

import os
import resource
import select
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer than Python's own start, and every command starts a few guards
if TYPE_CHECKING:
    import signal
    import subprocess
    from collections.abc import Iterable
else:
    import _signal as signal  # `signal` makes enumerations of its numbers, which takes half as long

PROGRAM = os.path.abspath(__file__)
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)

_SET_PARENT_DEATH, _SET_CHILD_SUBREAPER = 1, 36
_DEADLINE_SECONDS = 5.0
"""For processes that even SIGKILL does not end: those in an uninterruptible wait."""

_MOST_DESCRIPTORS = 256
"""Descriptors that smspec passed to the guard must not reach the command."""

_KILLED = 128 + signal.SIGKILL
_USAGE = "--usage="
_LIMITED = "--limited"

MOST_MEMORY = 4 << 30
"""Bytes of data of each process, for installers: an index page without an end is read as a whole."""

LARGEST_FILE = 16 << 30
"""Bytes, larger than any wheel: for a download without an end."""


def guarded(words: list[str], usage: int | None = None, *, is_limited: bool = False) -> list[str]:
    """Return the words that run a command under a guard. Start them with a pipe as stdin, and keep its other end.

    ``usage``: a descriptor, passed on, to which the guard writes [CPU seconds, peak memory] of what it has run.
    ``is_limited``: it is an installer, which gets no more memory, and writes no larger files, than one needs.
    """
    options = [*([] if usage is None else [f"{_USAGE}{usage}"]), *([_LIMITED] if is_limited else [])]
    return [sys.executable, "-I", "-S", PROGRAM, *options, *words]


def end_by_closing_stdin(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close the stdin of a process that ends with it, as a guard does, and wait; kill it after ``seconds``."""
    import subprocess  # imported late: a guard does without it

    assert process.stdin is not None
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def used(usage: resource.struct_rusage) -> tuple[float, int]:
    """Return CPU seconds, and the peak memory of the largest process in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return round(usage.ru_utime + usage.ru_stime, 3), usage.ru_maxrss * unit


def become_subreaper(wanted: bool) -> None:
    """Become the parent of orphans below this process. Only Linux supports this."""
    _prctl(_SET_CHILD_SUBREAPER, int(wanted))


def children() -> set[int]:
    """Return the children of this process, dead ones included."""
    return _children_by_parent().get(os.getpid(), set())


def kill_descendants() -> None:
    """Kill and reap every process below this one, until none is left."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline:
        for process in _descendants():
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        if not _reaped():
            return
        time.sleep(0.001)


def main(words: list[str]) -> int:
    """Run the command; return its exit status."""
    usage = -1
    if words[0].startswith(_USAGE):
        usage = int(words.pop(0)[len(_USAGE) :])
        os.set_inheritable(usage, False)
    if words[0] == _LIMITED:
        words.pop(0)
        _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
        # Not RLIMIT_AS: allocators and threads reserve addresses that they never use, more with every processor.
        _limit(resource.RLIMIT_DATA, MOST_MEMORY)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    become_subreaper(True)
    child = -1

    def forward(number: int, _: object) -> None:
        if child > 0:
            os.kill(child, number)

    held = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    for number in FORWARDED:
        signal.signal(number, forward)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = _start(words, held)
    signal.pthread_sigmask(signal.SIG_SETMASK, held)
    while True:
        status = _status_of(child)
        if status is not None:
            break
        ready = select.select([0, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
        if 0 in ready and not os.read(0, 4096):
            status = _KILLED
            break
    kill_descendants()
    if usage >= 0:
        seconds, memory = used(resource.getrusage(resource.RUSAGE_CHILDREN))
        os.write(usage, f"[{seconds}, {memory}]".encode())
    return status


def _limit(kind: int, wanted: int) -> None:
    _, most = resource.getrlimit(kind)
    wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(kind, (wanted, wanted))


def _start(words: list[str], mask: Iterable[int]) -> int:
    guard = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        _prctl(_SET_PARENT_DEATH, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(_KILLED)  # it died before it could be reported
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        signal.set_wakeup_fd(-1)
        for number in (*FORWARDED, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # Python ignores these for itself; other programs expect the defaults.
        for name in ("SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.closerange(3, _MOST_DESCRIPTORS)
        os.execvp(words[0], words)
    except OSError as fault:
        os.write(2, f"cannot start `{words[0]}`: {fault.strerror}\n".encode())
    finally:
        os._exit(127)


def _status_of(child: int) -> int | None:
    """Reap ended children; return the exit status of ``child`` if it is among them."""
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return _KILLED  # cannot happen: only this process reaps it
        if process == 0:
            return None
        if process == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _reaped() -> bool:
    """Reap ended children; return whether any are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants() -> set[int]:
    below = _children_by_parent()
    found: set[int] = set()
    level = {os.getpid()}
    while level:
        level = {child for process in level for child in below.get(process, ())} - found
        found |= level
    return found


def _children_by_parent() -> dict[int, set[int]]:
    """Return parent → children, for all processes of this machine."""
    found: dict[int, set[int]] = {}
    for process, parent in _from_proc() if os.path.isdir("/proc/self") else _from_ps():
        found.setdefault(parent, set()).add(process)
    return found


def _from_proc() -> list[tuple[int, int]]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # pid (name of the program) state parent …; the name may contain anything, even parentheses
                found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
        except (OSError, IndexError):
            continue
    return found


def _from_ps() -> list[tuple[int, int]]:
    import subprocess  # imported late: Linux has /proc

    words = ["ps", "-axo", "pid=,ppid="]
    listing = subprocess.run(words, cwd=os.sep, capture_output=True, text=True, check=False)
    pairs = [line.split() for line in listing.stdout.splitlines()]
    return [(int(pair[0]), int(pair[1])) for pair in pairs if len(pair) == 2]


def _prctl(option: int, value: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    try:
        import _ctypes  # `ctypes` itself takes half as long as Python's own start

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]  # None: what is loaded
        _ctypes.call_function(prctl, (option, value, 0, 0, 0))
    except (ImportError, OSError, AttributeError):
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
