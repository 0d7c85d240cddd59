"""Failures that users of SageMaker reported: smspec prevents each as its case says, and is silent about the cured job.

`support/known_failures.py` describes the cases. docs/failures.md is made from them. test_failures_in_aws.py has the
answers for which a command asks AWS.
"""

import os
import re
import sys

import pytest

from smspec.diagnostics.explanation import explained_codes
from smspec.local.engines.namespace.availability import unavailable
from support.known_failures import DIRECTORY, failures, topics
from support.sampled_cases import sampled
from support.smspec_command import smspec

REPORT = re.compile(r"^(error|warning|note)\[(SM\d{3})\]:(.*?)(?=^\w|\Z)", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"^ *--> (.+?):(\d+):\d+$", re.MULTILINE)
PREVENTED = [failure for failure in failures() if failure.job]
JOBS = [
    (failure, job, suffix)
    for failure in PREVENTED
    for job, suffix in ((failure.job, ""), (failure.cured, "-cured"))
    if job
]


@pytest.mark.parametrize("job", [pytest.param(job, id=f"{each.name}{suffix}") for each, job, suffix in JOBS])
def test_validate_reports_the_marked_lines_only(job, tmp_path):
    """Each mark is at a line that a report of its code names, if only in a note; errors and warnings are all marked."""
    job.write(tmp_path)
    said = smspec("validate", cwd=tmp_path).out
    reports = [(severity, code, PLACE.findall(text)) for severity, code, text in REPORT.findall(said)]
    named = {(code, file, int(line)) for _, code, places in reports for file, line in places}
    assert job.reported - named == set(), said
    marked = {code for code, _, _ in job.reported & named}
    assert [code for severity, code, _ in reports if severity != "note" and code not in marked] == [], said


@pytest.mark.parametrize(
    "failure", [failure for failure in PREVENTED if failure.codes], ids=lambda failure: failure.name
)
def test_cured_job_has_none_of_the_codes(failure, tmp_path):
    failure.cured.write(tmp_path)
    said = smspec("validate", cwd=tmp_path).out
    assert {code for _, code, _ in REPORT.findall(said)} & {*failure.codes} == set(), said


def answers(starts_processes):
    """Return the parameters of all answers of other commands."""
    return [
        pytest.param(job, answer, id=f"{failure.name}{suffix}-{answer.command}")
        for failure, job, suffix in JOBS
        if not failure.account
        for answer in job.shows
        if answer.starts_processes == starts_processes
    ]


def check(job, answer, directory):
    """Write a job, run a command there, and compare what it says and writes with the answer."""
    job.write(directory)
    done = smspec(*answer.command.format(python=sys.executable).split(), cwd=directory)
    said = done.out + done.err
    assert done.status == answer.status, said
    assert [text for text in answer.says if text not in said] == [], said
    assert [text for text in answer.lacks if text in said] == [], said
    written = {name: (directory / name) for name in answer.writes}
    assert [name for name, path in written.items() if not path.is_file()] == []
    texts = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in written.items()}
    assert [(name, texts[name]) for name, text in answer.writes.items() if text not in texts[name]] == []
    assert [name for name in answer.omits if (directory / name).exists()] == []


@pytest.mark.parametrize(("job", "answer"), answers(False))
def test_command_answers(job, answer, tmp_path):
    check(job, answer, tmp_path)


@sampled(6)
@pytest.mark.process
@pytest.mark.parametrize(("job", "answer"), answers(True))
def test_run_answers(job, answer, tmp_path, monkeypatch):
    if "--engine namespace" in answer.command and (reason := unavailable()):
        pytest.skip(reason)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    check(job, answer, tmp_path)
    assert {path.lstat().st_uid for path in tmp_path.rglob("*")} == {os.getuid()}


def test_every_prevented_failure_has_an_answer():
    assert [f.name for f in PREVENTED if not f.codes and not f.job.shows] == []
    assert [f.name for f in PREVENTED if f.codes and not f.cured] == []
    assert [f.name for f in PREVENTED if f.cured and f.cured.reported] == []
    assert [f.name for f in PREVENTED for code in f.codes if code not in explained_codes()] == []
    assert [f.name for f in PREVENTED if not f.codes and not f.answer] == [], "the page has nothing to say"


def test_reports_are_public_and_have_one_case():
    reports = [report for failure in failures() for report in failure.reports]
    assert len(reports) == len(set(reports)) >= 205
    assert sum(len(failure.reports) for failure in PREVENTED) >= 185
    assert sorted(path.stem for path in DIRECTORY.glob("*.yaml") if path.stem != "topics") == sorted(dict(topics()))
