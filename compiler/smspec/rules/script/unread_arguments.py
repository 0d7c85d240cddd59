"""absl stops parsing options at the first argument that is not an option, without a message."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word

RULE = Rule("SM510", "unread arguments", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a value after a flag of absl: it ends the options, and later flags keep their defaults."""
    for fault in both.of_kind("unread"):
        assert fault.argument is not None
        yield RULE.at(
            both.path_of(fault),
            f"`{option_word(fault.argument)}` of `{both.name}` has no value: "
            f"`{fault.argument.words[1]}` ends the flags",
            help="set `args_style: flags`, which passes true as the flag and omits false",
            notes=notes(fault),
        )
