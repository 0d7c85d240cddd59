"""``type=bool`` calls ``bool`` with a string, and every string except the empty one is true."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word

RULE = Rule("SM505", "type=bool argument", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a false value that the script reads as true."""
    for fault in both.of_kind("truth"):
        assert fault.argument is not None
        yield RULE.at(
            both.path_of(fault),
            f"`{option_word(fault.argument)} {fault.argument.words[1]}` becomes true: "
            f"`{both.name}` declares it with `type=bool`",
            help="use `argparse.BooleanOptionalAction` in the script with `args_style: flags`, or compare the string",
            notes=notes(fault),
        )
