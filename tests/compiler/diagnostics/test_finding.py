"""Severities: order, counts, and effect on the exit status."""

import pytest

from smspec.diagnostics import SEVERITIES, Finding, counted, fails, gravest_first


def found(*severities):
    return [Finding(code=f"SM{n}", severity=one, path=(), message="m") for n, one in enumerate(severities)]


def test_equally_severe_findings_keep_their_order():
    ordered = gravest_first(found("note", "warning", "error", "note", "error"))
    assert [one.code for one in ordered] == ["SM2", "SM4", "SM1", "SM0", "SM3"]


@pytest.mark.parametrize(
    ("severities", "words"),
    [
        ((), ""),
        (("note",), "1 note"),
        (("warning", "note", "note"), "1 warning, 2 notes"),
        (("note", "error", "warning"), "1 error, 1 warning, 1 note"),
    ],
)
def test_summary_counts_each_severity(severities, words):
    assert counted(found(*severities)) == words


@pytest.mark.parametrize("severity", SEVERITIES)
def test_only_errors_fail_unless_strict(severity):
    assert fails(found("note", severity), is_strict=False) == (severity == "error")
    assert fails(found("note", severity), is_strict=True) == (severity != "note")
