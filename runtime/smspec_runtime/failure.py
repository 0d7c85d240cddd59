"""Writes ``output/failure``, of which SageMaker shows 1024 characters, and ``output/success``; nothing else does."""

import os
import re
import signal
import stat

from .layout import Layout
from .lean_typing import Sequence, Tuple
from .log import log
from .masking import masked_command, masked_text
from .outcome import Outcome
from .refusal import Refused

LIMIT = 1024  # Characters and bytes.

_TRACEBACK = r"(?m)^([^\n]{0,40}?)Traceback \(most recent call last\):[^\S\n]*$"
"""What stands before it stands before every line of it: a rank."""
_CONTROLS = r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]"
_RANKS = r"(?<=[^\n])\[1,\d+\]<stderr>:"  # mpirun puts it before every piece of a line.


class Report:
    """Room for the failure file is set aside before the program can fill the disk, then written over and renamed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._room = os.path.join(layout.output, ".failure")

    def prepare(self) -> None:
        """Remove an earlier job's failure file and set the room aside."""
        _remove(self._layout.failure)
        try:
            self._write(self._room, b"\n" * LIMIT)
        except OSError as error:
            log(f"no room for a failure file: {error}")

    def fail(self, text: str) -> None:
        """Write the failure file, unless the program did; failing that, log it all."""
        path = self._layout.failure
        log("the job failed: " + " | ".join(text.split("\n")[:2]))
        _remove(self._layout.success)  # of an earlier job
        if _has_content(path):
            log(f"the program wrote {path} itself; it is left as it is")
            _remove(self._room)
            return
        try:
            self._write(self._room, limited(text, LIMIT).encode())
            os.replace(self._room, path)
        except OSError as error:
            log(f"cannot write {path}: {error}\n{text}")

    def succeed(self) -> None:
        """Write the empty success file; without it the job is a success, too."""
        _remove(self._room)
        try:
            self._write(self._layout.success, b"")
        except OSError as error:
            log(f"cannot write {self._layout.success}: {error}")

    def _write(self, path: str, content: bytes) -> None:
        os.makedirs(self._layout.output, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            os.ftruncate(descriptor, os.write(descriptor, content))
        finally:
            os.close(descriptor)


def refusal_text(refusal: Refused) -> str:
    """Tell why the program was not started."""
    return f"ClientError: {_line(str(refusal))}\nExitCode {refusal.exit_status}"


def failure_text(
    outcome: Outcome, command: Sequence[str], secrets: Sequence[str], title: str = "ExecuteUserScriptError"
) -> str:
    """Tell why a program failed: cause, exit status, last traceback, command."""
    # Of a progress bar only what it wrote last is seen.
    written = re.sub("\r\n?", "\n", outcome.output.decode("utf-8", "replace"))
    written = masked_text(re.sub(_RANKS, "", re.sub(_CONTROLS, "", written)), secrets)
    traceback, exception = _last_traceback(written)
    last_line = written.rstrip().rpartition("\n")[2]
    cause = outcome.error or _signal_cause(outcome) or exception or last_line or "no message"
    head = f"{title}: {limited(_line(masked_text(cause, secrets)), 400)}\nExitCode {outcome.status}\n"
    tail = f'Command "{limited(_line(masked_command(command, secrets)), 240)}"'
    room = LIMIT - len((head + tail).encode()) - 1
    middle = limited((traceback or written).strip(), room, from_end=True)
    return f"{head}{middle}\n{tail}" if middle else head + tail


def limited(text: str, limit: int, from_end: bool = False) -> str:
    """Return at most ``limit`` bytes of UTF-8, from the end in whole lines."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode()
    if not from_end:
        return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
    kept = encoded[4 - limit :].decode("utf-8", "ignore")
    return "…\n" + (kept.partition("\n")[2] or kept)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _has_content(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return not stat.S_ISREG(found.st_mode) or found.st_size > 0


def _line(text: str) -> str:
    return " ".join(text.split())


def _last_traceback(text: str) -> Tuple[str, str]:
    """Return the last traceback of a text and its last line, or nothing twice."""
    found = list(re.finditer(_TRACEBACK, text))
    if not found:
        return "", ""
    margin = found[-1][1]
    lines = text[found[-1].start() :].splitlines()
    for number, line in enumerate(lines[1:], 2):
        inner = line[len(margin) :] if line.startswith(margin) else line
        if inner and not inner[0].isspace():
            return "\n".join(lines[:number]), inner
    return "\n".join(lines), ""


def _signal_cause(outcome: Outcome) -> str:
    """Also of a signal that a shell in between reports as 128 + n."""
    number = outcome.signal or outcome.status - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    if number != signal.SIGKILL:
        return f"{name}: {(signal.strsignal(number) or '').lower()}" if outcome.signal or outcome.stopped else ""
    if outcome.killed:
        return "SIGKILL: still running after SIGTERM and the grace"
    counts = {None: "", 0: ", unless a process sent it: the kernel has counted no such kill here"}
    counted = f" (the kernel killed {outcome.oom_kills} for want of it)"
    return "SIGKILL: probably out of memory" + counts.get(outcome.oom_kills, counted)
