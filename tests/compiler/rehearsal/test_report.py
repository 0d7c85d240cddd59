"""The report of a rehearsal as text, JSON, and JUnit."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from smspec.cli import main
from smspec.rehearsal.report import PromiseOutcome, PromiseRow, Refusal, Report, junit, kept, not_rehearsed, text

BROKEN = PromiseOutcome(
    state="broken",
    seen=("metric `loss` is 1 instead of 2", "`model.json`: `w` is \x1b[31m 3 instead of 4"),
    advice="save everything",
    moment="SIGTERM after line 5 of the log",
    log="rehearsal/job/log",
    directory="rehearsal/job",
    seconds=2.0,
)


def report(*outcomes: PromiseOutcome, failure: str = "") -> Report:
    rows = tuple(
        PromiseRow(name=f"promise-{number}", statement="the job survives", outcome=outcome)
        for number, outcome in enumerate(outcomes, 1)
    )
    return Report(
        job="job", seed=7, directory="rehearsal/job", rows=rows, failure=failure, failure_log="x", runs=9, seconds=60.0
    )


ALL = report(kept("the same model"), BROKEN, not_rehearsed("no Pipe channel"))


def test_text_has_a_row_for_each_promise():
    """Control characters of a script do not reach the terminal."""
    shown = text(ALL)
    assert shown.splitlines()[:4] == [
        "promise    result           time  what was seen",
        "promise-1  kept           0.00 s  the same model",
        "promise-2  broken         2.00 s  metric `loss` is 1 instead of 2",
        "promise-3  not rehearsed       -  no Pipe channel",
    ]
    assert "promise-2: the job survives: broken\n  metric `loss` is 1 instead of 2\n" in shown
    assert "  interrupted: SIGTERM after line 5 of the log\n  log: rehearsal/job/log\n" in shown
    assert "  help: save everything\n" in shown
    assert shown.endswith("1 kept, 1 broken, 1 not rehearsed; 9 runs in 1 min 00 s, seed 7\n")
    assert "\x1b" not in shown


def test_lines_of_a_failure_are_shown_as_lines():
    shown = text(report(failure="ValueError: \x1btoo high\nExitCode 1"))
    assert "so nothing else was rehearsed\n  ValueError: \\x1btoo high\n  ExitCode 1\n  log: x\n" in shown


def test_exit_status_is_that_of_broken_promises():
    assert [each.exit_status for each in (ALL, report(kept("x"), not_rehearsed("y")), report(failure="no"))] == [
        1,
        0,
        1,
    ]


def test_json_has_what_the_text_has():
    document = json.loads(ALL.to_json())
    assert [promise["state"] for promise in document["promises"]] == ["kept", "broken", "not rehearsed"]
    assert document["promises"][1]["seen"] == list(BROKEN.seen)
    assert (document["seed"], document["failure"]) == (7, None)


def test_junit_counts_failures():
    suite = ElementTree.fromstring(junit(ALL))[0]
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    failure = suite[1][0]
    assert (failure.tag, failure.get("message")) == ("failure", "metric `loss` is 1 instead of 2")
    assert "save everything" in failure.text
    assert suite[2][0].tag == "skipped"


def test_undisturbed_failure_is_reported():
    failed = report(not_rehearsed("the job fails undisturbed"), failure="ValueError: too high")
    assert "the job fails undisturbed, so nothing else was rehearsed\n  ValueError: too high\n" in text(failed)
    suite = ElementTree.fromstring(junit(failed))[0]
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["2", "1", "1"]


def test_errors_of_the_spec_are_a_document(tmp_path, capsys):
    """A CI job reads the file whatever happened; people still read the errors on stderr."""
    spec = tmp_path / "job.yaml"
    spec.write_text("smspec: v1\nname: job\nhosts: {instance_typ: ml.m5.large}\nrole: 7\n")
    documents = {}
    for form in ("json", "junit", "text"):
        assert main(["rehearse", str(spec), "--format", form]) == 1
        documents[form], err = capsys.readouterr()
        assert "error[SM204]" in err
    assert documents["text"] == ""
    errors = json.loads(documents["json"])["errors"]
    suite = ElementTree.fromstring(documents["junit"])[0]
    assert int(suite.get("errors")) == int(suite.get("tests")) == len(suite) == len(errors) > 1
    assert "SM204 in line 3" in [case.get("name") for case in suite]


def test_reason_of_this_machine_is_reported():
    refusal = Refusal(spec="job.yaml", sentence="no Docker\0")
    assert json.loads(refusal.to_json())["errors"][0]["message"] == "no Docker\0"
    (case,) = ElementTree.fromstring(refusal.to_junit())[0]
    assert case[0].get("message") == "no Docker\\x00"
