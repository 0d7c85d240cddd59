"""``type=bool`` calls ``bool`` with a text, and every text but the empty one is true."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, called, notes

RULE = Rule("SM505", "type=bool argument", "warning")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Warn of a false that the program will take for true."""
    for fault in meeting.of_kind("truth"):
        assert fault.argument is not None
        yield RULE.at(
            meeting.path_of(fault),
            f"`{meeting.name}` makes this true: `{called(fault.argument)}` has `type=bool`, and"
            f' `bool("{fault.argument.words[1]}")` is `True`',
            help="in the program, compare the text, or use `argparse.BooleanOptionalAction` with `args_style: flags`",
            notes=notes(fault),
        )
