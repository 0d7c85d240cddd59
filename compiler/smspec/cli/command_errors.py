"""Errors that end a command and are not findings in a spec, and the message and exit status of any exception."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from smspec.diagnostics import InvalidInput
from smspec.diagnostics.masking import masked
from smspec.diagnostics.visible import visible

if TYPE_CHECKING:
    from smspec.cli.console import Console

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


class UsageError(Exception):
    """The command line is invalid: exit status 2. ``usage`` shows the correct form."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class CommandRefused(Exception):
    """The command would do harm, or its outcome is not the one that was requested: exit status 1."""


class ResourceUnavailable(Exception):
    """A file, a program, or a service that the command needs is missing or broken: exit status 3."""


def report_error(fault: Exception, console: Console) -> int:
    """Write a sentence about the error and return its exit status."""
    # Imported late, as below: most commands succeed.
    from smspec.workspace.own_directories import UnsafeCache

    if os.environ.get("SMSPEC_DEBUG"):
        import traceback

        console.write("".join(traceback.format_exception(fault)))
    if isinstance(fault, InvalidInput):
        console.warned(fault.diagnostics, fault.texts)
        return 1
    if isinstance(fault, UsageError):
        console.paint(fault.usage)
        return _report(str(fault), 2, console)
    if isinstance(fault, CommandRefused):
        return _report(str(fault), 1, console)
    if isinstance(fault, (ResourceUnavailable, UnsafeCache)):
        return _report(str(fault), 3, console)
    if isinstance(fault, OSError):
        return _report(_sentence(fault), 3, console)
    if isinstance(fault, MemoryError):
        return _report("out of memory", 3, console)
    _report(f"internal error: {type(fault).__name__}: {fault}", 70, console)
    console.say(
        "this is a bug in smspec: report the line above, the command, and the spec if you can share it;"
        " set SMSPEC_DEBUG=1 for a traceback"
    )
    return 70


def _report(sentence: str, status: int, console: Console) -> int:
    # The words of a command line may contain secrets, and are shown in the logs of a pipeline.
    console.say(f"smspec: {visible(masked(sentence))}")
    return status


def _sentence(fault: OSError) -> str:
    from smspec.diagnostics.quoting import system_reason

    named = fault.filename
    if fault.filename2 is not None and fault.errno in _NO_ROOM:
        named = fault.filename2  # a copy names its original first, but its target has no room
    if named is None:
        return system_reason(fault)
    name = named if isinstance(named, str) else os.fsdecode(named)
    return f"`{name}`: {system_reason(fault)}"
