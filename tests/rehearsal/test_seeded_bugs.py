"""Bugs in programs that resume are found, and programs without one raise no alarm; the benchmark has all of them."""

from __future__ import annotations

import ast
import sys

import pytest

from support.rehearsal.bugs import BUGS
from support.rehearsal.programs import BY_NAME, PROGRAMS
from support.rehearsal.rehearsed_jobs import RehearsedJob
from support.sampled_cases import left_out


@pytest.fixture
def job(tmp_path):
    job = RehearsedJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def rehearse(job, program, source, promise):
    """Return the state of a promise, and what was seen."""
    if program.missing:
        pytest.skip(f"{program.missing} is not installed")
    program.write_job(job.directory, source)
    found = job.promises("--only", promise, "--python", sys.executable, "--seed", "3")[promise]
    return found["state"], " ".join(found["seen"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "promise"), [left_out("plain_timed", "spot"), ("numpy_logistic", "lost-host")])
def test_programs_without_a_bug_raise_no_alarm(job, name, promise):
    """One saves when time has passed and writes times into its model, the other saves the state of a generator."""
    program = BY_NAME[name]
    state, seen = rehearse(job, program, program.source, promise)
    assert state == "kept", seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bug", "promise", "shown"),
    [
        left_out("plain_timed", "generator restarted, in a model with times", "spot", "`bandit.json`"),
        ("plain_sigterm", "SIGTERM saves in the middle of a step", "spot", "`weights.json`"),
        ("plain_early_stopping", "counter of early stopping lost", "lost-host", "`history.csv`"),
        ("plain_steps", "key of the checkpoint misspelled", "spot", "KeyError: 'random_state'"),
        ("numpy_logistic", "history lost", "lost-host", "`history.npy`"),
    ],
)
def test_bugs_of_resumed_jobs_are_found(job, name, bug, promise, shown):
    (found,) = (one for one in BUGS if (one.program_name, one.name) == (name, bug))
    state, seen = rehearse(job, found.program, found.source, promise)
    assert (state, shown in seen) == ("broken", True), seen


def test_each_bug_changes_its_program():
    for bug in BUGS:
        assert ast.dump(ast.parse(bug.source)) != ast.dump(ast.parse(bug.program.source)), bug.name
    assert len({(bug.program_name, bug.name) for bug in BUGS}) == len(BUGS) >= 20
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 20
