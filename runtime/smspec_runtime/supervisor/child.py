"""Starts a program in a process group of its own."""

import errno
import os

from ..lean_typing import Dict, List, Mapping, NamedTuple, NoReturn, Sequence, Union
from ..outcome import Outcome
from .signals import Signals

NOT_FOUND = 127
NOT_EXECUTABLE = 126


class Streams(NamedTuple):
    """Descriptors for the child's standard streams; -1 inherits."""

    stdout: int = -1
    stderr: int = -1

    def close(self) -> None:
        for descriptor in self:
            if descriptor >= 0:
                os.close(descriptor)


class Program(NamedTuple):
    """What is to be started: words as a shell passes them on, variables, and the directory to start in."""

    words: Sequence[str]
    environ: Mapping[str, str]
    directory: str


def spawn(program: Program, streams: Streams, signals: Signals) -> Union[int, Outcome]:
    """Start a program and return its process, which leads its group; or why it could not be started.

    Call it with signals held: none may meet the child between fork and exec.
    """
    try:
        words = [_encoded(word) for word in program.words]
        variables = {_encoded(name): _encoded(value) for name, value in program.environ.items()}
    except ValueError as error:
        return Outcome(NOT_EXECUTABLE, error=f"{program.words[0]}: {error}")
    candidates = _candidates(words[0], variables.get(b"PATH", os.defpath.encode()))
    report, report_end = os.pipe()
    foreground = is_in_foreground()
    try:
        child = os.fork()
    except OSError as error:  # The limit of processes, or of memory.
        os.close(report)
        os.close(report_end)
        return Outcome(NOT_EXECUTABLE, error=f"{program.words[0]}: cannot start a process: {error.strerror}")
    if child == 0:
        try:
            os.setpgid(0, 0)
            if foreground:
                os.tcsetpgrp(0, os.getpid())
            _set_streams(streams)
            os.chdir(program.directory)
            signals.restore()
            _execute(candidates, words, variables)
        except OSError as error:
            os.write(report_end, b"%d" % (error.errno or 0))
        finally:
            os._exit(NOT_FOUND)
    try:
        os.setpgid(child, child)
    except OSError:
        pass  # The child was faster.
    os.close(report_end)
    failure = os.read(report, 16)  # Ends when exec closes the other end.
    os.close(report)
    if not failure:
        return child
    os.waitpid(child, 0)
    if not os.path.isdir(program.directory):
        return Outcome(NOT_EXECUTABLE, error=f"{program.directory}: no such directory")
    number = int(failure)
    status = NOT_FOUND if number in (errno.ENOENT, errno.ENOTDIR) else NOT_EXECUTABLE
    return Outcome(status, error=f"{program.words[0]}: {os.strerror(number)}")


def is_in_foreground() -> bool:
    """Whether we have the terminal, if there is one, and so can give it to a child."""
    try:
        return os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _set_streams(streams: Streams) -> None:
    if streams.stdout >= 0:
        os.dup2(streams.stdout, 1)
    if streams.stderr >= 0:
        os.dup2(streams.stderr, 2)


def _encoded(text: str) -> bytes:
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise ValueError("a word holds a NUL")
    return encoded


def _candidates(program: bytes, path: bytes) -> List[bytes]:
    if b"/" in program:
        return [program]
    return [os.path.join(directory or b".", program) for directory in path.split(b":")]


def _execute(candidates: List[bytes], words: List[bytes], variables: Dict[bytes, bytes]) -> NoReturn:
    """Replace this process as a shell would: along PATH, and a text file without ``#!`` is a shell script."""
    denied = None
    for candidate in candidates:
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
