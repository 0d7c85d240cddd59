"""Writes ``output/failure``, of which SageMaker shows 1024 characters, and ``output/success``."""

import os
import stat

from .layout import Layout
from .lean_typing import Sequence
from .log import log
from .masking import masked_command, masked_text
from .outcome import Outcome
from .refusal import Refused

LIMIT = 1024  # Characters and bytes.
_ROOM = ".failure"
_REASON, _COMMAND, _LEAST_DETAILS = 640, 200, 24  # Bytes.


class Report:
    """The program may fill the disk and replace directories by links, so space and descriptors are reserved first."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._root = self._output = -1

    def prepare(self) -> None:
        """Remove an earlier job's failure file and reserve space."""
        try:
            self._open()
            self._remove("failure")
            self._write(_ROOM, b"\n" * LIMIT)
        except OSError as error:
            log(f"no room for a failure file: {error}")

    def fail(self, text: str) -> None:
        """Write the failure file, unless the program did."""
        path = self._layout.failure
        log("the job failed: " + " | ".join(text.split("\n")[:2]))
        try:
            self._open()
            self._remove("success")  # of an earlier job
            if self._has_failure():
                log(f"the program wrote {path} itself; it is left as it is")
                self._remove(_ROOM)
                return
            self._write(_ROOM, limited(text, LIMIT).encode())
            os.replace(_ROOM, "failure", src_dir_fd=self._output, dst_dir_fd=self._output)
        except OSError as error:
            log(f"cannot write {path}: {error}\n{text}")

    def succeed(self) -> None:
        """The file is optional."""
        try:
            self._open()
            self._remove(_ROOM)
            self._write("success", b"")
        except OSError as error:
            log(f"cannot write {self._layout.success}: {error}")

    def _open(self) -> None:
        """Again if the program replaced the directory."""
        if self._root < 0:
            os.makedirs(self._layout.output, exist_ok=True)
            self._root = os.open(self._layout.root, os.O_DIRECTORY)
            self._output = os.open(self._layout.output, os.O_DIRECTORY)
            return
        try:
            os.mkdir("output", dir_fd=self._root)
        except OSError:
            pass
        try:
            self._output = os.open("output", os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._root)
        except OSError:
            pass  # Perhaps a link.

    def _remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._output)
        except OSError:
            pass

    def _has_failure(self) -> bool:
        try:
            found = os.stat("failure", dir_fd=self._output, follow_symlinks=False)
        except OSError:
            return False
        return not stat.S_ISREG(found.st_mode) or found.st_size > 0

    def _write(self, name: str, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(name, flags, 0o644, dir_fd=self._output), "wb", 0) as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                raise OSError(f"{name} is a link to a different file")
            file.truncate(file.write(content))


def refusal_text(refusal: Refused) -> str:
    return f"ClientError: {_line(masked_text(str(refusal), []))}\nExitCode {refusal.exit_status}"


def failure_text(
    outcome: Outcome, command: Sequence[str], secrets: Sequence[str], title: str = "ExecuteUserScriptError"
) -> str:
    from .reason import reason_of  # Late: most jobs succeed.

    reason = reason_of(outcome, command, is_pip=title.startswith("Install"))
    head = f"{title}: {limited(_line(masked_text(reason.text, secrets)), _REASON)}\nExitCode {outcome.status}\n"
    tail = f'Command "{limited(_line(masked_command(command, secrets)), _COMMAND)}"'
    room = LIMIT - len((head + tail).encode()) - 1
    for lines in (reason.details, reason.calls):  # The first line has the message.
        details = masked_text("\n".join(lines), secrets).strip("\n").rstrip()
        if len(details.encode("utf-8", "replace")) <= room:
            break
    middle = limited(details, room, from_end=True) if room > _LEAST_DETAILS else ""
    return f"{head}{middle}\n{tail}" if middle else head + tail


def reason_in(text: str) -> str:
    return text.partition("\n")[0].partition(": ")[2]


def limited(text: str, limit: int, from_end: bool = False) -> str:
    """At most ``limit`` bytes of UTF-8, from the end in whole lines."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode()
    if not from_end:
        return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
    kept = encoded[4 - limit :].decode("utf-8", "ignore")
    return "…\n" + (kept.partition("\n")[2] or kept)


def _line(text: str) -> str:
    return " ".join(text.split())
