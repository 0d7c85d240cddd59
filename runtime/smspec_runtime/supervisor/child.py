"""Starts a program in its own process group."""

import errno
import os

from ..lean_typing import Dict, Environ, List, NamedTuple, NoReturn, Sequence, Union
from ..outcome import Outcome
from .signals import Signals


class Task(NamedTuple):
    """A stream of -1 is inherited; ``foreground`` has the terminal."""

    words: Sequence[str]
    environ: Environ
    directory: str
    stdout: int = -1
    stderr: int = -1
    foreground: bool = False

    def close(self) -> None:
        for descriptor in (self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)


def spawn(task: Task, signals: Signals) -> Union[int, Outcome]:
    """The process, or why there is none. Signals must be held."""
    name = task.words[0]
    try:
        words = [_encoded(word) for word in task.words]
        variables = {_encoded(name): _encoded(value) for name, value in task.environ.items()}
    except ValueError as error:
        return Outcome(126, error=f"{name}: {error}")
    report, report_end = os.pipe()
    try:
        child = os.fork()
    except OSError as error:  # The limit of processes, or of memory.
        os.close(report)
        os.close(report_end)
        return Outcome(126, error=f"{name}: cannot start a process: {error.strerror}")
    if child == 0:
        try:
            os.setpgid(0, 0)
            if task.foreground:
                os.tcsetpgrp(0, os.getpid())
            for number, stream in ((1, task.stdout), (2, task.stderr)):
                if stream >= 0:
                    os.dup2(stream, number)
            os.chdir(task.directory)
            signals.restore()
            _execute(words, variables)
        except OSError as error:
            os.write(report_end, b"%d" % (error.errno or 0))
        finally:
            os._exit(127)
    try:
        os.setpgid(child, child)
    except OSError:
        pass  # The child was faster.
    os.close(report_end)
    failure = os.read(report, 16)  # Until exec closes the other end.
    os.close(report)
    if not failure:
        return child
    os.waitpid(child, 0)
    if not os.path.isdir(task.directory):
        return Outcome(126, error=f"{task.directory}: no such directory")
    number = int(failure)
    status = 127 if number in (errno.ENOENT, errno.ENOTDIR) else 126
    reason = os.strerror(number)
    if status == 127 and "/" not in name:
        reason = "no such program along PATH; is it in the image?"
    elif status == 127 and os.path.exists(os.path.join(task.directory, name)):
        reason = "its interpreter is missing; do lines end with CR LF?"
    return Outcome(status, error=f"{name}: {reason}")


def is_in_foreground() -> bool:
    try:
        return os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _encoded(text: str) -> bytes:
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise ValueError("a word holds a NUL")
    return encoded


def _execute(words: List[bytes], variables: Dict[bytes, bytes]) -> NoReturn:
    """As a shell does: along PATH; text without ``#!`` is a shell script."""
    path = variables.get(b"PATH", os.defpath.encode())
    denied = None
    for directory in [b""] if b"/" in words[0] else [directory or b"." for directory in path.split(b":")]:
        candidate = os.path.join(directory, words[0])
        try:
            os.execve(candidate, words, variables)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            denied = error
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            os.execve(b"/bin/sh", [b"/bin/sh", candidate, *words[1:]], variables)
    raise denied or FileNotFoundError(errno.ENOENT, "")
