"""What a command says of a fault that ends it, and with which exit status."""

from __future__ import annotations

import errno
import os

from smspec.cli.console import Console
from smspec.cli.faults import Refused, Unavailable, Usage
from smspec.diagnostics import Rejected
from smspec.diagnostics.foreign_words import reason
from smspec.diagnostics.masking import masked
from smspec.diagnostics.visible import visible

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def last_words(fault: Exception, console: Console) -> int:
    """Say what went wrong in a sentence and return the exit status for it."""
    if os.environ.get("SMSPEC_DEBUG"):
        import traceback  # late: nobody else waits for it

        console.write("".join(traceback.format_exception(fault)))
    if isinstance(fault, Rejected):
        console.warned(fault.diagnostics, fault.texts)
        return 1
    if isinstance(fault, Usage):
        console.write(fault.usage)
        return _said(str(fault), 2, console)
    if isinstance(fault, Refused):
        return _said(str(fault), 1, console)
    if isinstance(fault, Unavailable):
        return _said(str(fault), 3, console)
    if isinstance(fault, OSError):
        return _said(_sentence(fault), 3, console)
    if isinstance(fault, MemoryError):
        return _said("there is not enough memory", 3, console)
    _said(f"internal error: {type(fault).__name__}: {fault}", 70, console)
    console.say(
        "this is a bug of smspec, not of your spec: please report this line, the command and, if you may, the spec"
    )
    console.say("with SMSPEC_DEBUG=1 in the environment it also shows where it happened")
    return 70


def _said(sentence: str, status: int, console: Console) -> int:
    # The words of a command line hold secrets too, and end in the logs of a pipeline.
    console.say(f"smspec: {visible(masked(sentence))}")
    return status


def _sentence(fault: OSError) -> str:
    named = fault.filename
    if fault.filename2 is not None and fault.errno in _NO_ROOM:
        named = fault.filename2  # a copy names its original first, and it is the copy that has no room
    if named is None:
        return reason(fault)
    name = named if isinstance(named, str) else os.fsdecode(named)
    return f"`{name}`: {reason(fault)}"
