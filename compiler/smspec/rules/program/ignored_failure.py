"""A shell goes on after a command that fails, and the job then ends with the status of the last command."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.script.foreign_script import ForeignScript

RULE = Rule("SM542", "ignored failure in a shell script", "warning")


def check(script: ForeignScript) -> Iterator[Finding]:
    """Warn about a shell script without `set -e` that ignores the failure of a command."""
    for command, place in script.ignored_failures():
        yield RULE.at(
            ("entry_point", "script"),
            f"`{script.name}` ignores a failure of `{command}` in line {place.line}",
            help="add `set -e` at the beginning of the script",
            notes=(Note("the script goes on after this command, whatever its status", place),),
        )
        return
