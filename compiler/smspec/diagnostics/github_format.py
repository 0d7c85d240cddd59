"""Diagnostics as workflow commands of GitHub Actions, which shows them at their lines in a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.severity import SEVERITIES, Severity
from smspec.diagnostics.visible import visible
from smspec.source import dotted

MOST_SHOWN = 10
"""GitHub's limit on annotations of each severity in one step; the log contains all (docs of GitHub: limits)."""

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def workflow_commands(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line; a last one counts what GitHub will not show."""
    return counted([(diagnostic.severity, _command(diagnostic)) for diagnostic in diagnostics])


def counted(commands: Sequence[tuple[Severity, str]]) -> str:
    """Return commands of these severities as lines, with one that counts what GitHub will not show."""
    lines = [command for _, command in commands]
    shown = [severity for severity, _ in commands]
    hidden = sum(max(0, shown.count(severity) - MOST_SHOWN) for severity in SEVERITIES)
    if hidden:
        lines.append(
            f"::notice title=smspec::{hidden} more in the log: GitHub shows {MOST_SHOWN} errors, {MOST_SHOWN} "
            f"warnings, and {MOST_SHOWN} notices of a step"
        )
    return "".join(f"{line}\n" for line in lines)


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = {"file": span.file, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        # GitHub supports columns only within one line.
        place |= {"col": span.column, "endColumn": span.end_column}
    return workflow_command(diagnostic.severity, place, _title(diagnostic), _message(diagnostic))


def workflow_command(severity: Severity, place: Mapping[str, object], title: str, message: str) -> str:
    """Return one command; ``place`` has its properties, such as `file` and `line`."""
    properties = ",".join(
        f"{name}={_property(visible(str(value)))}" for name, value in {**place, "title": title}.items()
    )
    return f"::{_COMMANDS[severity]} {properties}::{_data(message)}"


def _title(diagnostic: Diagnostic) -> str:
    """Return the code, and the key unless the message names it: GitHub shows neither the line nor the lines above."""
    path = dotted(diagnostic.path)
    return diagnostic.code if path in diagnostic.message else f"{diagnostic.code} {path}"


def _message(diagnostic: Diagnostic) -> str:
    notes = (f"note: {note}" for note in diagnostic.notes)
    help = f"help: {diagnostic.help}" if diagnostic.help else ""
    return "\n".join(visible(words) for words in (diagnostic.message, diagnostic.label, *notes, help) if words)


def _data(text: str) -> str:
    """Return a text escaped for the runner: ``%`` and line breaks."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
