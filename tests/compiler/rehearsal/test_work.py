"""How much of its work an interrupted job repeats."""

from __future__ import annotations

import pytest

from smspec.local.running.request import Interruption, Moment
from smspec.local.running.training_request import TrainingRequest
from smspec.rehearsal.disturbances import advice_for
from smspec.rehearsal.promises.progress import ignored_checkpoint, units_before_the_first_checkpoint
from smspec.rehearsal.repeated_work import is_long_enough, work_of
from smspec.rehearsal.trial import TrialCourse
from smspec.source.frozen import replace
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
    assert not work_of(REQUEST, *course(steps(1, 2, every=2), steps(2, 10))).is_from_scratch, "there was little to lose"
    assert not work_of(REQUEST, *course(steps(1, 8, every=20), steps(1, 10))).is_from_scratch, "nothing was saved"


def test_lines_count_without_metrics(course):
    reference, interrupted = course(steps(1, 8), steps(9, 10), has_metrics=False)
    work = work_of(TrainingRequest({}), reference, interrupted)
    assert (work.unit, work.total, work.is_from_scratch) == ("steps in the log", 10, False)


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


def shaped(first, last, line, *start, save="state", replay=None, pace=1.0):
    """Return the events of a run whose log has ``start``, what it prints ``replay`` of, and a line for each step."""
    events = [f"0 line {text}" for text in start]
    events += [f"0.0{step} line {line(step)}" for step in range(1, replay or 1)]
    for step in range(first, last + 1):
        second = (step - first + 1) * pace
        events.append(f"{second} line {line(step)}")
        if save:
            events.append(f"{second + 0.1} write {save.format(step)}")
    return events


STARTING = [f"setting {name}={number}" for number, name in enumerate("abcdefghijkl")]
RESUMING = ["Checkpoint found: state", "Resuming from iteration 8", *(f"restored tensor {n}" for n in range(12))]
noise = iter(range(1, 10_000))
LOGS = {
    "steps": lambda step: f"step {step}",
    "progress of a total": lambda step: f"Epoch {step}/10",
    "value of a seed": lambda step: f"loss={1 / step:.4f}",
    "noise and a step": lambda step: f"epoch {step} loss=0.{next(noise):04d}",
    "a time and a step": lambda step: f"2026-11-28 10:00:{next(noise) % 60:02d} iteration {step}",
    "an evaluation of boosting": lambda step: f"[{step}]#011train-rmse:{9 / step:.5f}",
    "a name and a step": lambda step: f"INFO trainer: global_step={step} lr=0.001",
}


def with_metrics():
    metric = {"Name": "loss", "Regex": "([0-9.]+)$"}
    return TrainingRequest({"AlgorithmSpecification": {"MetricDefinitions": [metric]}})


@pytest.mark.parametrize("has_metrics", [True, False])
@pytest.mark.parametrize("shape", LOGS)
@pytest.mark.parametrize(
    "after",
    [
        lambda line: shaped(9, 10, line),
        lambda line: shaped(9, 10, line, *STARTING),
        lambda line: shaped(9, 10, line, *RESUMING),
        lambda line: shaped(9, 10, line, *RESUMING, replay=9),
        lambda line: shaped(9, 10, line, replay=9),
        lambda line: [*(f"0 line {text}" for text in RESUMING), "1 line done"],
        lambda line: [],
        lambda line: shaped(9, 10, line, *(f"skipping batch {n} of 8" for n in range(20))),
    ],
    ids=["resumes", "start", "callback", "callback and history", "history", "silent", "nothing left", "skips"],
)
def test_right_jobs_do_nothing_again_in_any_log(course, shape, has_metrics, after):
    """Neither lines of the start, nor a history that is printed again, are work."""
    line = LOGS[shape]
    request = with_metrics() if has_metrics else TrainingRequest({})
    runs = shaped(1, 10, line, *STARTING), shaped(1, 8, line, *STARTING), after(line)
    reference, interrupted = course(runs[1], runs[2], reference=runs[0], has_metrics=has_metrics)
    work = work_of(request, reference, interrupted)
    assert work is None or not work.is_from_scratch, work
    assert not has_metrics or ignored_checkpoint(request, reference, interrupted) is None


@pytest.mark.parametrize("has_metrics", [True, False])
@pytest.mark.parametrize("save", ["state", "step-{}.pt"])
@pytest.mark.parametrize("shape", LOGS)
def test_repeated_steps_are_evidence_in_any_log(course, shape, save, has_metrics):
    line = LOGS[shape]
    request = with_metrics() if has_metrics else TrainingRequest({})
    runs = [shaped(1, last, line, *STARTING, save=save) for last in (10, 8, 10)]
    work = work_of(request, *course(runs[1], runs[2], reference=runs[0], has_metrics=has_metrics))
    assert work.is_from_scratch


@pytest.mark.parametrize("has_metrics", [True, False])
def test_repeated_steps_with_other_values_are_repeated_work(course, has_metrics):
    request = with_metrics() if has_metrics else TrainingRequest({})
    runs = (
        shaped(1, 10, lambda step: f"step {step} loss={1 / step:.4f}"),
        lambda step: f"step {step} loss={2 / step:.4f}",
    )
    before = shaped(1, 8, lambda step: f"step {step} loss={1 / step:.4f}")
    again = course(before, shaped(1, 10, runs[1]), reference=runs[0], has_metrics=has_metrics)
    assert work_of(request, *again).is_from_scratch
    on = course(before, shaped(9, 10, runs[1]), reference=runs[0], has_metrics=has_metrics)
    assert not work_of(request, *on).is_from_scratch
    counted_on = course(before, shaped(11, 20, runs[1]), reference=runs[0], has_metrics=has_metrics)
    assert work_of(request, *counted_on) is None


def test_renamed_checkpoints_count_once(course):
    def saved(first, last):
        pairs = ((f"{n} write tmp-{n}", f"{n}.5 rename step-{n}.pt tmp-{n}") for n in range(first, last + 1))
        return [event for pair in pairs for event in pair]

    work = work_of(TrainingRequest({}), *course(saved(1, 8), saved(9, 12), reference=saved(1, 12), has_metrics=False))
    assert (work.unit, work.total, work.done, work.after) == ("files of checkpoints", 12, 8, 4)


def test_silent_job_repeats_files_of_checkpoints(course):
    runs = [[f"{step} write step-{step}.pt" for step in range(1, last + 1)] for last in (10, 8, 10)]
    work = work_of(TrainingRequest({}), *course(runs[1], runs[2], reference=runs[0], has_metrics=False))
    assert (work.unit, work.is_from_scratch) == ("files of checkpoints", True)
    rest = ["1 write step-9.pt", "2 write step-10.pt"]
    assert not work_of(
        TrainingRequest({}), *course(runs[1], rest, reference=runs[0], has_metrics=False)
    ).is_from_scratch


@pytest.mark.parametrize(
    ("reason", "is_of_a_file"),
    [
        ("json.decoder.JSONDecodeError: Unterminated string starting at: line 1 column 99", True),
        ("EOFError: Ran out of input", True),
        ("_pickle.UnpicklingError: pickle data was truncated", True),
        ("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", True),
        ("safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge", True),
        ("ValueError: nothing to do", False),
        ("KeyError: 'optimizer'", False),
    ],
)
def test_half_written_checkpoint_has_its_own_advice(course, reason, is_of_a_file):
    _, interrupted = course(steps(1, 8), [])
    last = replace(interrupted.last, summary=replace(interrupted.last.summary, failure_reason=reason))
    found = replace(interrupted, trials=(interrupted.trials[0], last))
    assert ("os.replace" in advice_for(found)) is is_of_a_file
