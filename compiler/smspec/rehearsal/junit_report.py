"""The report as JUnit XML: a test case for each promise."""

from __future__ import annotations

from xml.etree import ElementTree

from smspec.diagnostics.junit_format import case_in, document, suite_in
from smspec.rehearsal.report import Report


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
    suite = suite_in(suites, f"smspec rehearse {report.job}", report.seconds, counts)
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
