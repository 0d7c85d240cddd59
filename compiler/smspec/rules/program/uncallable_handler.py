"""The runtime makes an object of a handler class without arguments, and calls handlers with positional ones."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, file_name, here

RULE = Rule("SM522", "uncallable handler")


def check(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a handler that the runtime cannot call, or that has nothing to call."""
    for fault in both.reach.handler:
        message = f"`{file_name(fault.place)}`: {fault.reason}"
        yield RULE.at(both.path, message, help=fault.help, notes=here("it is defined here", fault.place))
