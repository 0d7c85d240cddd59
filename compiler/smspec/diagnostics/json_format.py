"""Diagnostics for machines: one JSON array, one flat object per diagnostic."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.explanation import reference
from smspec.source import dotted


def records(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as a JSON array in ASCII, empty if there are none, with a final newline."""
    return _array(record(diagnostic) for diagnostic in diagnostics)


def records_with_fixed(fixed: Iterable[Diagnostic], left: Iterable[Diagnostic]) -> str:
    """Return an array of diagnostics that were fixed, with what replaced the text, and of the others."""
    return _array(
        {**record(diagnostic), "fixed": is_fixed, "replacement": diagnostic.fix.meant if diagnostic.fix else ""}
        for is_fixed, some in ((True, fixed), (False, left))
        for diagnostic in some
    )


def _array(objects: Iterable[dict[str, str | int]]) -> str:
    # Imported late: text is the usual format.
    import json

    return json.dumps(list(objects), indent=2) + "\n"


def record(diagnostic: Diagnostic) -> dict[str, str | int]:
    """Return one diagnostic as a flat object; lines and columns count from 1, columns in code points."""
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
