"""Each version of Python adds syntax that older ones reject."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version, file_name, here

RULE = Rule("SM518", "syntax of a newer Python")


def check(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module with a construct that the Python of the image does not have yet."""
    for found in both.reach.new_syntax:
        since = dotted_version(found.since)
        yield RULE.at(
            both.path,
            f"`{file_name(found.place)}` line {found.place.line} requires Python {since}, "
            f"but the image has {both.python_name}",
            help=f"use a base image with Python {since} or later, or change the line",
            notes=here(f"{found.construct} is new in Python {since}", found.place),
        )
