"""Writes ``output/failure`` and ``output/success``. Nothing else in the runtime writes either.

SageMaker shows the first 1024 characters of the failure file as FailureReason, so the cause stands first.
"""

import os
import re
import signal
import stat

from .layout import Layout
from .lean_typing import List, Sequence, Tuple
from .log import log
from .masking import masked_text, masked_words
from .outcome import Outcome

LIMIT = 1024
"""Characters and bytes, so that a limit of either kind cuts nothing off."""

_CAUSE_LIMIT = 400
_COMMAND_LIMIT = 240
_TRACEBACK = r"(?m)^([^\n]{0,40}?)Traceback \(most recent call last\):[^\S\n]*$"
"""What stands before it stands before every line of it: launchers put the rank there."""
_CONTROLS = r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]"
_RANKS = r"(?<=[^\n])\[1,\d+\]<stderr>:"
"""What mpirun puts before every piece of a line that was written in pieces."""
_LINE_ENDS = r"\r\n?"
"""A progress bar goes back to the start of its line: only what it wrote last is seen."""
_RESERVE = ".failure"


class Reserve:
    """Room for the failure file, set aside before the program can fill the disk.

    The text is written over it and the file renamed: neither needs a new block.
    """

    def __init__(self, layout: Layout) -> None:
        self._path = os.path.join(layout.output, _RESERVE)
        self._failure = layout.failure
        self.is_taken = False

    def take(self) -> None:
        """Set the room aside, or go without: a job that cannot say why it failed may still succeed.

        A failure file that is there already is not of this job.
        """
        self.is_taken = True
        _remove(self._failure)
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._write(b"\n" * LIMIT)
        except OSError as error:
            log(f"no room for a failure file: {error}")

    def release(self) -> None:
        _remove(self._path)

    def turn_into(self, path: str, text: bytes) -> None:
        """Make it the file ``path`` with this content. Raises OSError."""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        self._write(text)
        os.replace(self._path, path)

    def _write(self, content: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            written = os.write(descriptor, content)
            os.ftruncate(descriptor, written)
        finally:
            os.close(descriptor)


def write_failure(layout: Layout, reserve: Reserve, text: str) -> None:
    """Write the failure file, unless the program wrote one itself. Where that cannot be, the log gets all of it."""
    log("the job failed: " + " | ".join(text.split("\n")[:2]))
    _remove(layout.success)  # of an earlier job
    if reserve.is_taken and _has_content(layout.failure):
        log(f"the program wrote {layout.failure} itself; it is left as it is")
        reserve.release()
        return
    try:
        reserve.turn_into(layout.failure, limited(text, LIMIT).encode("utf-8"))
    except OSError as error:
        log(f"cannot write {layout.failure}: {error}\n{text}")


def write_success(layout: Layout, reserve: Reserve) -> None:
    """Write the empty success file. The exit status is what counts: one that cannot be written undoes nothing."""
    reserve.release()
    try:
        os.makedirs(layout.output, exist_ok=True)
        os.close(os.open(layout.success, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o644))
    except OSError as error:
        log(f"cannot write {layout.success}: {error}")


def refusal_text(title: str, message: str, status: int) -> str:
    """Tell why the program was not started, in the form of `failure_text`."""
    return f"{title}: {_line(message)}\nExitCode {status}"


def failure_text(
    outcome: Outcome, command: Sequence[str], secrets: Sequence[str], title: str = "ExecuteUserScriptError"
) -> str:
    """Tell why a program failed: its cause, its exit status, the end of its last traceback, its command."""
    written = re.sub(_LINE_ENDS, "\n", outcome.output.decode("utf-8", "replace"))
    written = masked_text(re.sub(_RANKS, "", re.sub(_CONTROLS, "", written)), secrets)
    traceback, last_line = _last_traceback(written)
    cause = outcome.error or _signal_cause(outcome) or last_line or _last_line(written) or "no message"
    head = f"{title}: {limited(_line(masked_text(cause, secrets)), _CAUSE_LIMIT)}\nExitCode {outcome.status}\n"
    shown = masked_text(" ".join(masked_words(command)), secrets)
    tail = f'\nCommand "{limited(_line(shown), _COMMAND_LIMIT)}"'
    room = LIMIT - len(head.encode("utf-8", "replace")) - len(tail.encode("utf-8", "replace"))
    middle = limited_from_the_end((traceback or written).strip(), room)
    return head + (middle + tail if middle else tail.lstrip("\n"))


def limited(text: str, limit: int) -> str:
    """Return text of at most ``limit`` bytes of UTF-8 that can be encoded; what is cut off leaves an ellipsis."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode("utf-8")
    return encoded[: limit - 3].decode("utf-8", "ignore") + "…"


def limited_from_the_end(text: str, limit: int) -> str:
    """Return the last lines of a text, whole lines where they fit, of at most ``limit`` bytes of UTF-8."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode("utf-8")
    kept = encoded[len(encoded) - limit + 4 :].decode("utf-8", "ignore")
    _, newline, lines = kept.partition("\n")
    return "…\n" + (lines if newline and lines else kept)


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


def _last_line(text: str) -> str:
    for line in reversed(text.splitlines()):
        if line.strip():
            return line.strip()
    return ""


def _last_traceback(text: str) -> Tuple[str, str]:
    """Return the last traceback of a text, and its last line: the exception. Both empty when there is none."""
    found = list(re.finditer(_TRACEBACK, text))
    if not found:
        return "", ""
    start = found[-1]
    lines: List[str] = text[start.start() :].splitlines()
    margin = start.group(1)
    for number, line in enumerate(lines[1:], 1):
        inner = line[len(margin) :] if line.startswith(margin) else line
        if inner and not inner[0].isspace():
            return "\n".join(lines[: number + 1]), inner.strip()
    return "\n".join(lines), ""


def _signal_cause(outcome: Outcome) -> str:
    """Return what is known of the signal that ended a program, also one that a shell in between reports as 128 + n."""
    number = outcome.signal or (outcome.status - 128 if outcome.status > 128 else 0)
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    if number == signal.SIGKILL:
        if outcome.killed:
            return "SIGKILL: still running after SIGTERM and the grace"
        if outcome.oom_kills == 0:
            return "SIGKILL: sent by a process, not by the kernel for want of memory"
        counted = f" (the kernel killed {outcome.oom_kills} for want of it)" if outcome.oom_kills else ""
        return "SIGKILL: probably out of memory" + counted
    if not outcome.signal and not outcome.stopped:
        return ""
    return "{}: {}".format(name, (signal.strsignal(number) or "").lower())
