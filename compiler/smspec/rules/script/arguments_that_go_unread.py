"""absl stops reading options at the first word that is none, and says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, called, notes

RULE = Rule("SM510", "unread arguments", "warning")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Warn of a value behind a flag of absl: it ends the options, and what follows keeps its defaults."""
    for fault in meeting.of_kind("unread"):
        assert fault.argument is not None
        yield RULE.at(
            meeting.path_of(fault),
            f"`{called(fault.argument)}` of `{meeting.name}` has no value: `{fault.argument.words[1]}` ends the flags",
            help="set `args_style: flags`, which passes true as the flag and omits false",
            notes=notes(fault),
        )
