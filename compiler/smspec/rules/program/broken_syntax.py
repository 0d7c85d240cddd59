"""Python compiles a module before it runs any of it: an error anywhere in it ends the script at its import."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, file_name, here

RULE = Rule("SM517", "broken syntax", instead_of="SM512")


def check(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module with an error in its text that the Python of the image reports too."""
    for fault in both.reach.faults:
        yield RULE.at(
            both.path,
            f"`{file_name(fault.place)}` line {fault.place.line}: {fault.reason}",
            help="fix the line; `python3 -m py_compile FILE` shows the same error",
            notes=here("Python rejects the module here", fault.place),
        )
