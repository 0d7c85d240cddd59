"""The meaning of a signal or an exit status alone."""

import signal

from ..lean_typing import Optional
from ..outcome import Outcome

FAULTS = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
"""A program causes them itself; its last lines may explain it."""


def signal_text(number: int, oom_kills: Optional[int] = None) -> str:
    if number != signal.SIGKILL:
        known = {int(one): f"{one.name}: {(signal.strsignal(one) or '').lower()}" for one in signal.Signals}
        hint = "; /dev/shm is probably full" if number == signal.SIGBUS else ""
        return known.get(number, f"signal {number}") + hint
    counts = {None: "", 0: ", unless a process sent it: the kernel has counted no such kill here"}
    counted = f" (the kernel killed {oom_kills} for want of it)"
    return "SIGKILL: probably out of memory" + counts.get(oom_kills, counted)


def ended_by(outcome: Outcome, is_shell: bool, words: str) -> int:
    """The signal, also if a shell reports it as 128 + n; 0: none."""
    if outcome.signal or outcome.status <= 128:
        return outcome.signal
    number = outcome.status - 128
    if outcome.stopped and number == signal.SIGTERM:
        return number
    # A status such as 137 may be the program's own choice.
    if number == signal.SIGKILL and (is_shell or outcome.oom_kills or "Killed" in words):
        return number
    return number if is_shell and number in FAULTS else 0


def child_ended_by(status: int) -> int:
    """The signal of a child, which subprocess reports as -n; 0: none."""
    number = 256 - status
    return number if number in {*FAULTS, signal.SIGKILL, signal.SIGTERM} else 0
