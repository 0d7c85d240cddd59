"""How much of its work an interrupted job repeats."""

from __future__ import annotations

import pytest

from smspec.local.running.request import Interruption, Moment
from smspec.local.running.training_request import TrainingRequest
from smspec.rehearsal.promises.progress import (
    ignored_checkpoint,
    is_long_enough,
    units_before_the_first_checkpoint,
    work_of,
)
from smspec.rehearsal.trial import TrialCourse
from support.rehearsal.trials import timeline, trial

REQUEST = TrainingRequest(
    {"AlgorithmSpecification": {"MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]}}
)


def steps(first, last, name="state", every=1):
    """Return the events of steps with a value each, and a checkpoint after every few."""
    events = ["0 line starting"]
    for step in range(first, last + 1):
        events.append(f"{step} line loss={step}")
        if step % every == 0:
            events.append(f"{step}.5 write {name.format(step)}")
    return events


@pytest.fixture
def course(tmp_path):
    """Return an undisturbed run of ten steps, and a job that was interrupted once."""

    def run(before, after, reference=None, has_metrics=True):
        runs = [reference or steps(1, 10), before, after]
        metrics = {"loss": [float(step) for step in range(10)]} if has_metrics else None
        trials = [trial(tmp_path / str(n), {}, metrics, timeline(*events)) for n, events in enumerate(runs)]
        trials[1].timeline.interrupted_at = 9.0
        interruption = Interruption(moment=Moment(after="line", count=1), grace=1)
        return trials[0], TrialCourse(
            name="spot", interruptions=(interruption,), trials=tuple(trials[1:]), passed_on=(1,)
        )

    return run


def test_repeated_steps_are_counted(course):
    work = work_of(REQUEST, *course(steps(1, 8, every=5), steps(6, 10)))
    assert (work.total, work.done, work.saved, work.after, work.repeated) == (10, 8, 5, 5, 3)
    assert not work.is_from_scratch


def test_start_from_scratch_is_certain(course):
    assert work_of(REQUEST, *course(steps(1, 8), steps(1, 10))).is_from_scratch
    assert not work_of(REQUEST, *course(steps(1, 1), steps(1, 10))).is_from_scratch, "there was little to lose"
    assert not work_of(REQUEST, *course(steps(1, 8, every=20), steps(1, 10))).is_from_scratch, "nothing was saved"


def test_lines_count_without_metrics(course):
    reference, interrupted = course(steps(1, 8), steps(9, 10), has_metrics=False)
    work = work_of(TrainingRequest({}), reference, interrupted)
    assert (work.unit, work.total, work.is_from_scratch) == ("lines of the log", 11, False)


def test_older_checkpoint_is_noticed(course):
    """Numbers that are compared as text: 8 is above 10."""
    reference, interrupted = course(steps(1, 9, "step-{}.pt"), steps(4, 10, "step-{}.pt"))
    assert ignored_checkpoint(REQUEST, reference, interrupted) == ("step-3.pt", "step-9.pt")
    reference, interrupted = course(steps(1, 9, "step-{}.pt"), steps(10, 10))
    assert ignored_checkpoint(REQUEST, reference, interrupted) is None


def test_best_models_are_not_newer_checkpoints(course):
    before = [*steps(1, 9, "step-{}.pt", every=4), "9.6 write best-1.pt", "9.7 write best-2.pt", "9.8 write best-3.pt"]
    reference, interrupted = course(before, steps(9, 10))
    assert ignored_checkpoint(REQUEST, reference, interrupted) is None


def test_late_first_checkpoint_is_measured(course):
    reference, _ = course([], [], reference=steps(1, 10, every=10))
    found = units_before_the_first_checkpoint(REQUEST, reference)
    assert (found.done, found.total) == (10, 10)
    assert is_long_enough(REQUEST, reference)
