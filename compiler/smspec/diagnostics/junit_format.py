"""Diagnostics as JUnit XML, for CI systems that show test results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.junit_document import case_in, document, suite_in

_COMMAND = "smspec validate"


def junit(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a suite for each file: an error is a failed test case, a warning or a note is one that passes.

    Some CI systems reject results without test cases, so without errors there is one for that.
    """
    suites = ElementTree.Element("testsuites")
    by_file = sorted(diagnostics, key=lambda diagnostic: diagnostic.span.file)
    for file, group in groupby(by_file, key=lambda diagnostic: diagnostic.span.file):
        found = list(group)
        suite = suite_in(suites, f"{_COMMAND} {file}", 0.0, _counts(found))
        for diagnostic in found:
            error_in(suite, file, diagnostic, "failure" if diagnostic.severity == "error" else None)
    if not any(diagnostic.severity == "error" for diagnostic in diagnostics):
        suite = suite_in(suites, _COMMAND, 0.0, {**_counts([]), "tests": 1})
        case_in(suite, _COMMAND, "no errors", 0.0, None, "", "")
    return document(suites)


def error_in(suite: ElementTree.Element, classname: str, diagnostic: Diagnostic, kind: str | None) -> None:
    """Add a test case for a diagnostic; ``kind``: as in `case_in`."""
    span = diagnostic.span
    where = f"{span.file}:{span.line}:{span.column}: {diagnostic.code}: {diagnostic.message}"
    text = "\n".join(filter(None, [where, diagnostic.label, *map(str, diagnostic.notes), diagnostic.help]))
    case_in(suite, classname, f"{diagnostic.code} in line {span.line}", 0.0, kind, diagnostic.message, text)


def _counts(diagnostics: Sequence[Diagnostic]) -> dict[str, int]:
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    return {"tests": len(diagnostics), "failures": errors, "errors": 0, "skipped": 0}
