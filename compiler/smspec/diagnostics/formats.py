"""The output formats of diagnostics: a table of them, and the two short ones, JSON and workflow commands of GitHub.

The others have files, imported on demand: a command writes one format, and mostly there is nothing to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from smspec.diagnostics import SEVERITIES, Diagnostic, Severity
from smspec.diagnostics.quoting import visible
from smspec.source import SourceText, dotted

Format: TypeAlias = Callable[[Sequence[Diagnostic], Sequence[SourceText], bool, "int | None"], str]
"""Formats diagnostics, with their texts, whether to use color, and the columns of the screen; empty if there are none.

No screen has None, where text for people is not wrapped.
"""

MOST_SHOWN = 10
"""GitHub's limit on annotations of each severity in one step; the log contains all (docs of GitHub: limits)."""

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def _text(diagnostics: Sequence[Diagnostic], texts: Sequence[SourceText], colour: bool, columns: int | None) -> str:
    if not diagnostics:
        return ""
    from smspec.diagnostics.text_format import framed

    return framed(diagnostics, texts, colour=colour, columns=columns)


def _sarif(diagnostics: Sequence[Diagnostic], texts: Sequence[SourceText], _colour: bool, _columns: int | None) -> str:
    from smspec.diagnostics.sarif import sarif

    return sarif(diagnostics, texts)


def _junit(diagnostics: Sequence[Diagnostic], *, is_strict: bool) -> str:
    from smspec.diagnostics.junit_format import junit

    return junit(diagnostics, is_strict=is_strict)


FORMATS: dict[str, Format] = {
    "text": _text,
    "json": lambda diagnostics, _texts, _colour, _columns: json_records(diagnostics),
    "sarif": _sarif,
    "github": lambda diagnostics, _texts, _colour, _columns: workflow_commands(diagnostics),
    "junit": lambda diagnostics, _texts, _colour, _columns: _junit(diagnostics, is_strict=False),
}
"""Name, as in ``--format``, → its function. The first is the default."""
STRICT_FORMATS: dict[str, Format] = {
    **FORMATS,
    "junit": lambda diagnostics, _texts, _colour, _columns: _junit(diagnostics, is_strict=True),
}
"""The formats where warnings fail: only JUnit has a result for each finding."""


def json_records(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as a JSON array in ASCII, empty if there are none, with a final newline."""
    return _json_array(json_record(diagnostic) for diagnostic in diagnostics)


def records_with_fixed(fixed: Iterable[Diagnostic], left: Iterable[Diagnostic]) -> str:
    """Return an array of diagnostics that were fixed, with what replaced the text, and of the others."""
    return _json_array(
        {**json_record(diagnostic), "fixed": is_fixed, "replacement": diagnostic.fix.meant if diagnostic.fix else ""}
        for is_fixed, some in ((True, fixed), (False, left))
        for diagnostic in some
    )


def _json_array(objects: Iterable[dict[str, str | int]]) -> str:
    # Imported late: text is the usual format.
    import json

    return json.dumps(list(objects), indent=2) + "\n"


def json_record(diagnostic: Diagnostic) -> dict[str, str | int]:
    """Return one diagnostic as a flat object; lines and columns count from 1, columns in code points."""
    # Imported late: it lists the pages.
    from smspec.diagnostics.explanation import reference

    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        # The label under the line is often the intended name, for which there is no separate help.
        "help": "\n".join(words for words in (diagnostic.label, diagnostic.help) if words),
        "note": "\n".join(map(str, diagnostic.notes)),
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "path": dotted(diagnostic.path),
        "url": reference(diagnostic.code),
    }


def workflow_commands(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line; a last one counts what GitHub will not show."""
    return counted_commands([(diagnostic.severity, _command(diagnostic)) for diagnostic in diagnostics])


def counted_commands(commands: Sequence[tuple[Severity, str]]) -> str:
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
    values = {name: _data(visible(str(value))) for name, value in {**place, "title": title}.items()}
    properties = ",".join(f"{name}={text.replace(':', '%3A').replace(',', '%2C')}" for name, text in values.items())
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
