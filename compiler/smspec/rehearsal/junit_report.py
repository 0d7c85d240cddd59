"""The report as JUnit XML: a test case for each promise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from smspec.rehearsal.report import Report

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


def junit(report: Report) -> str:
    """Return one suite: a broken promise is a failure, one that was not rehearsed is skipped."""
    states = [row.outcome.state for row in report.rows]
    counts = {
        "tests": len(states) + bool(report.failure),
        "failures": states.count("broken") + bool(report.failure),
        "errors": 0,
        "skipped": states.count("not rehearsed"),
    }
    suites = ElementTree.Element("testsuites")
    suite = suite_in(suites, report.job, report.seconds, counts)
    if report.failure:
        case_in(suite, report.job, "undisturbed", 0.0, "failure", "the job fails undisturbed", report.failure)
    for row in report.rows:
        outcome = row.outcome
        kind = {"broken": "failure", "not rehearsed": "skipped"}.get(outcome.state)
        more = [outcome.advice, outcome.moment, outcome.log, outcome.directory]
        text = "\n".join(filter(None, [*outcome.seen, *more]))
        first = outcome.seen[0] if outcome.seen else ""
        case_in(suite, report.job, f"{row.name}: {row.statement}", outcome.seconds, kind, first, text)
    return document(suites)


def document(suites: ElementTree.Element) -> str:
    """Return the text of an XML document."""
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def suite_in(suites: ElementTree.Element, name: str, seconds: float, counts: Mapping[str, int]) -> ElementTree.Element:
    """Add a suite with numbers of test cases."""
    attributes = {
        "name": _NO_XML.sub("?", f"smspec rehearse {name}"),
        "time": f"{seconds:.3f}",
        **{kind: str(count) for kind, count in counts.items()},
    }
    return ElementTree.SubElement(suites, "testsuite", attributes)


def case_in(
    suite: ElementTree.Element, job: str, name: str, seconds: float, kind: str | None, message: str, text: str
) -> None:
    """Add a test case; ``kind`` is that of its result, None for success."""
    classname = _NO_XML.sub("?", job)
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=name, time=f"{seconds:.3f}")
    if kind is not None:
        result = ElementTree.SubElement(case, kind, message=_NO_XML.sub("?", message))
        result.text = _NO_XML.sub("?", text)
    elif text:
        ElementTree.SubElement(case, "system-out").text = _NO_XML.sub("?", text)
