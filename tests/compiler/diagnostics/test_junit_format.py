"""JUnit XML: an error is a failed test case, everything else passes."""

from xml.etree import ElementTree

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.junit_format import junit
from smspec.source import Span


def diagnostic(severity, file="job.yaml", message="`a` is <b> & \x00"):
    return Diagnostic(code="SM204", severity=severity, message=message, span=Span(file, 3, 1, 3, 2), help="remove it")


def test_errors_fail_and_warnings_pass():
    root = ElementTree.fromstring(junit([diagnostic("warning"), diagnostic("error"), diagnostic("error", "b.yaml")]))
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in root] == [
        ("smspec validate b.yaml", "1", "1"),
        ("smspec validate job.yaml", "2", "1"),
    ]
    passed, failed = root[1]
    assert passed.find("failure") is None
    assert "remove it" in passed.find("system-out").text
    assert failed.get("name") == "SM204 in line 3"
    assert failed.find("failure").get("message") == "`a` is <b> & \\x00"
    assert failed.find("failure").text.startswith("job.yaml:3:1: SM204: ")


def test_no_errors_are_one_passed_test_case():
    for found in ([], [diagnostic("note")]):
        root = ElementTree.fromstring(junit(found))
        assert [case.get("name") for case in root[-1]] == ["no errors"]
        assert not list(root.iter("failure"))


def test_warnings_fail_with_strict():
    root = ElementTree.fromstring(junit([diagnostic("warning"), diagnostic("note")], is_strict=True))
    assert [(suite.get("tests"), suite.get("failures")) for suite in root] == [("2", "1")]
    warned, noted = root[0]
    assert warned.find("failure") is not None and noted.find("failure") is None
