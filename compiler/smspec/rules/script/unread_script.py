"""A job without problems and a job whose script was not read must not have the same result."""

from __future__ import annotations

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.script.unread_script import UnreadScript

RULE = Rule("SM512", "unread script", "note")

_EFFECT = Note("smspec did not check its arguments, channels, and hyperparameters")


def finding_for(unread: UnreadScript) -> Finding:
    """Report that the script of a job was not read, and why."""
    message = f"smspec did not read {quoted(unread.name)}: {unread.reason}"
    return RULE.at(unread.path, message, help=unread.help, notes=(_EFFECT,))
