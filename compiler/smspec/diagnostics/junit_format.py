"""JUnit XML, for CI systems that show test results: suites of test cases, and diagnostics as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from xml.etree import ElementTree

from smspec.diagnostics import Diagnostic, fails
from smspec.diagnostics.quoting import multiline_visible, visible


def document(suites: ElementTree.Element) -> str:
    """Return the text of an XML document."""
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def suite_in(suites: ElementTree.Element, name: str, seconds: float, counts: Mapping[str, int]) -> ElementTree.Element:
    """Add a suite with numbers of test cases."""
    attributes = {
        "name": visible(name),
        "time": f"{seconds:.3f}",
        **{kind: str(count) for kind, count in counts.items()},
    }
    return ElementTree.SubElement(suites, "testsuite", attributes)


def case_in(
    suite: ElementTree.Element, job: str, name: str, seconds: float, kind: str | None, message: str, text: str
) -> None:
    """Add a test case; ``kind`` is that of its result, None for success."""
    classname = visible(job)
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=visible(name), time=f"{seconds:.3f}")
    if kind is not None:
        result = ElementTree.SubElement(case, kind, message=multiline_visible(message))
        result.text = multiline_visible(text)
    elif text:
        ElementTree.SubElement(case, "system-out").text = multiline_visible(text)


_COMMAND = "smspec validate"


def junit(diagnostics: Sequence[Diagnostic], *, is_strict: bool = False) -> str:
    """Return a suite for each file: a test case fails for an error, and with ``is_strict`` for a warning.

    All others pass. Some CI systems reject results without test cases, so without errors there is one for that.
    """
    suites = ElementTree.Element("testsuites")
    by_file = sorted(diagnostics, key=lambda diagnostic: diagnostic.span.file)
    for file, group in groupby(by_file, key=lambda diagnostic: diagnostic.span.file):
        found = list(group)
        suite = suite_in(suites, f"{_COMMAND} {file}", 0.0, _counts(found, is_strict=is_strict))
        for diagnostic in found:
            error_in(suite, file, diagnostic, "failure" if fails([diagnostic], is_strict=is_strict) else None)
    if not fails(diagnostics, is_strict=is_strict):
        suite = suite_in(suites, _COMMAND, 0.0, {**_counts([], is_strict=is_strict), "tests": 1})
        case_in(suite, _COMMAND, "no errors", 0.0, None, "", "")
    return document(suites)


def error_in(suite: ElementTree.Element, classname: str, diagnostic: Diagnostic, kind: str | None) -> None:
    """Add a test case for a diagnostic; ``kind``: as in `case_in`."""
    span = diagnostic.span
    where = f"{span.file}:{span.line}:{span.column}: {diagnostic.code}: {diagnostic.message}"
    text = "\n".join(
        map(visible, filter(None, [where, diagnostic.label, *map(str, diagnostic.notes), diagnostic.help]))
    )
    case_in(suite, classname, f"{diagnostic.code} in line {span.line}", 0.0, kind, visible(diagnostic.message), text)


def _counts(diagnostics: Sequence[Diagnostic], *, is_strict: bool) -> dict[str, int]:
    failures = sum(fails([diagnostic], is_strict=is_strict) for diagnostic in diagnostics)
    return {"tests": len(diagnostics), "failures": failures, "errors": 0, "skipped": 0}
