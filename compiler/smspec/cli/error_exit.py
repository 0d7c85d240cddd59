"""The message and the exit status for an exception at the end of a command."""

from __future__ import annotations

import errno
import os

from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import masked, system_reason, visible
from smspec.workspace.cache_directory import UnsafeCache

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def report_error(fault: Exception, console: Console) -> int:
    """Write a sentence about the error and return its exit status."""
    if os.environ.get("SMSPEC_DEBUG"):
        import traceback  # imported late: only errors need it

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
    named = fault.filename
    if fault.filename2 is not None and fault.errno in _NO_ROOM:
        named = fault.filename2  # a copy names its original first, but its target has no room
    if named is None:
        return system_reason(fault)
    name = named if isinstance(named, str) else os.fsdecode(named)
    return f"`{name}`: {system_reason(fault)}"
