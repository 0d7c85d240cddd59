"""What differs between an interrupted job and undisturbed runs: nothing that these do not share accuses."""

from __future__ import annotations

import io
import itertools
import json
import pickle
import zipfile

import pytest

from smspec.rehearsal.comparison import ResultComparison
from smspec.rehearsal.values import first_deviation
from support.rehearsal.trials import timeline, trial


@pytest.fixture
def compare(tmp_path):
    """Compare a model, file → content, with those of two undisturbed runs; metrics are in the file `metrics`."""

    numbers = itertools.count()

    def run(found, *expected, tolerance=None, regexes=None):
        runs = []
        for number, files in zip(numbers, [found, *expected], strict=False):
            model = {
                name: content if isinstance(content, bytes) else json.dumps(content).encode()
                for name, content in files.items()
                if name not in ("metrics", "lines")
            }
            run = timeline(*(f"{second} line {line}" for second, line in enumerate(files.get("lines", ()))))
            runs.append(trial(tmp_path / str(number), model, files.get("metrics"), run))
        return ResultComparison(runs[1:], runs[0], tolerance, regexes=regexes or {})

    return run


def found(comparison):
    return [str(difference) for difference in comparison.differences]


MODEL = {"model.json": {"weights": [1.0, 2.0], "step": 10}}


def test_equal_models_have_no_differences(compare):
    comparison = compare(MODEL, MODEL, MODEL)
    assert (found(comparison), comparison.compared, comparison.left_out) == ([], {"`model.json`"}, {})


def test_first_differing_value_is_named(compare):
    comparison = compare({"model.json": {"weights": [1.0, 2.5], "step": 11}}, MODEL, MODEL)
    assert found(comparison) == ["`model.json`: `weights[1]` is 2.5 instead of 2 (the first of 2 values)"]


def test_varying_values_are_not_compared(compare):
    """Noise is left out; the number of steps beside it is not."""
    one, other = ({"model.json": {"noise": noise, "step": 10}} for noise in (0.1, 0.2))
    assert found(compare({"model.json": {"noise": 0.3, "step": 10}}, one, other)) == []
    assert found(compare({"model.json": {"noise": 0.3, "step": 9}}, one, other)) == [
        "`model.json`: `step` is 9 instead of 10"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "trained_at_time",
        "elapsed",
        "resumed_from",
        "restarts",
        "wallTime",
        "hostname",
        "created",
        "train_seconds",
        "train_runtime",
        "latency",
        "start_epoch",
        "model.initial_global_step",
        "loaded_from",
        "steps_in_this_run",
        "it/s",
        "initFrom",
    ],
)
def test_values_about_the_run_are_not_compared(compare, name):
    """Two runs of the same second have the same time."""
    assert found(compare({"model.json": {name: 2, "w": 1}}, *[{"model.json": {name: 1, "w": 1}}] * 2)) == []
    assert found(compare({"model.json": {name: 1, "w": 2}}, *[{"model.json": {name: 1, "w": 1}}] * 2)) != []


def test_number_in_a_text_is_named_by_its_line(compare):
    def text(step, weight):
        return {"report.txt": f"resumed from step {step}\nweight {weight}\n".encode()}

    assert found(compare(text(4, 0.5), text(0, 0.5), text(0, 0.5))) == []
    assert found(compare(text(0, 0.4), text(0, 0.5), text(0, 0.5))) != []


def test_texts_in_an_archive_are_read_like_others(compare):
    def archive(**texts):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as members:
            for name, text in texts.items():
                members.writestr(f"{name}.txt", text)
        return {"model.zip": file.getvalue()}

    one, other = (archive(note=f"resumed from step {step}\nweight 0.5", log=f"step {step}") for step in (0, 4))
    assert found(compare(other, one, one)) == []
    assert found(compare(archive(note="resumed from step 0\nweight 0.4", log=""), one, one)) != []


def test_name_of_the_loaded_checkpoint_is_not_compared(compare):
    """A configuration of Hugging Face names where the model was loaded from; which checkpoint was best is compared."""
    base, loaded, best = (
        {"config.json": {"_name_or_path": name, "size": 1}}
        for name in ("base", "/opt/ml/checkpoints/checkpoint-8", "/opt/ml/checkpoints/checkpoint-4")
    )
    assert found(compare(loaded, base, base)) == []
    assert found(compare(base, loaded, loaded)) != []
    assert found(compare(best, loaded, loaded)) != []


def test_dates_are_not_compared(compare):
    one, other = ({"model.json": {"saved": f"2026-01-01 10:0{minute}"}} for minute in (1, 2))
    assert found(compare(other, one, one)) == []


def test_tolerance_of_the_spec_holds(compare):
    changed = {"model.json": {"weights": [1.0, 2.0 + 1e-9], "step": 10}}
    assert found(compare(changed, MODEL, MODEL)) != []
    assert found(compare(changed, MODEL, MODEL, tolerance=1e-6)) == []


def test_repeated_history_is_found(compare):
    history = {"model.json": {"losses": [3, 2, 1]}}
    assert found(compare({"model.json": {"losses": [3, 2, 1, 1]}}, history, history)) == [
        "`model.json` has `losses[3]`, which undisturbed runs do not have"
    ]
    assert found(compare({"model.json": {"losses": [3, 2]}}, history, history)) == [
        "`model.json`: `losses[2]` is missing"
    ]


def test_missing_file_is_found(compare):
    assert found(compare({}, MODEL, MODEL)) == ["the model has no `model.json`"]


def test_unknown_bytes_are_compared_as_they_are(compare):
    one, other = {"model.bin": b"\0\1\2\xff"}, {"model.bin": b"\0\1\3\xff"}
    assert found(compare(other, one, one)) == ["`model.bin` differs from byte 2 on"]
    comparison = compare(one, one | {"model.bin": b"\0\4\xff"}, other)
    assert (found(comparison), list(comparison.left_out)) == ([], ["`model.bin`"])


def test_equal_objects_with_different_bytes_are_equal(compare):
    state = {"names": ["weight", "weight"], "values": [0.5]}
    loaded = pickle.loads(pickle.dumps(state))
    loaded["names"] = ["wei" + "ght"[0:], "".join(["w", "eight"])]
    one, other = ({"model.pkl": pickle.dumps(content)} for content in (state, loaded))
    assert one != other
    assert found(compare(other, one, one)) == []


def test_metric_of_the_last_start_is_compared(compare):
    """The last value may be missing: the job was interrupted after it saved the step, and before it logged it."""
    expected = {"metrics": {"loss": [3.0, 2.0, 1.0]}}
    assert found(compare({"metrics": {"loss": [2.0, 1.0]}}, expected, expected)) == []
    assert found(compare({"metrics": {}}, expected, expected)) == []
    assert found(compare({"metrics": {"loss": [2.0, 1.5]}}, expected, expected)) == [
        "metric `loss` is 1.5 instead of 1"
    ]


def test_logs_in_the_model_are_not_compared(compare):
    logs = ["out/train.log", "train_log.txt", "logs/out.csv", "csv_logs/a.csv", "stdout"]
    others = ["blog.txt", "log_history.json", "catalogs/a.csv"]
    one, other = (dict.fromkeys(logs + others, content) for content in (b"step 1\nstep 2\n", b"step 2\n"))
    assert {difference.what for difference in compare(other, one, one).differences} == {f"`{name}`" for name in others}


def test_count_of_the_last_start_is_a_remark(compare):
    """If the weights are equal to the last digit: otherwise it may count what was lost."""
    one = {"model.json": {"weight": 0.123456789}, "run.json": {"epochs_run": 10, "done": True}}
    comparison = compare(one | {"run.json": {"epochs_run": 4, "done": True}}, one, one)
    assert (found(comparison), len(comparison.remarks)) == ([], 1)
    assert str(comparison.remarks[0]) == "`run.json`: `epochs_run` is 4 instead of 10"
    for changed in ({"epochs_run": 4, "done": False}, {"epochs_run": 16, "done": True}):
        assert len(found(compare(one | {"run.json": changed}, one, one))) == 1
    short = {"run.json": {"epochs_run": 10, "accuracy": 0.9}}
    assert len(found(compare({"run.json": {"epochs_run": 4, "accuracy": 0.9}}, short, short))) == 1


def test_mean_loss_of_a_trainer_is_that_of_its_start(compare):
    """transformers logs it with the duration of the same start; a loss of a different script is compared."""

    def results(loss, name="train_runtime"):
        history = {"log_history": [{"loss": 0.5, "step": 1}, {"train_loss": loss, name: 1.5}]}
        line = f"{{'{name}': 1.5, 'train_loss': {loss}, 'epoch': 3.0}}"
        return {"state.json": history, "metrics": {"train_loss": [loss]}, "lines": ["{'loss': 0.5}", line]}

    regexes = {"train_loss": "loss': ([0-9.]+)"}
    one, other = results(0.7123456), results(0.2123456)
    comparison = compare(other, one, one, regexes=regexes)
    assert (found(comparison), [*comparison.left_out]) == ([], ["metric `train_loss`"])
    one, other = results(0.7123456, "steps"), results(0.2123456, "steps")
    assert len(found(compare(other, one, one, regexes=regexes))) == 2


def test_difference_that_does_not_come_again_is_left_out(compare):
    one, other = {"a.json": {"k": 3}, "b.json": {"k": 3}}, {"a.json": {"k": 4}, "b.json": {"k": 4}}
    first = compare(other, one, one)
    first.confirmed_by(compare(one | {"b.json": {"k": 5}}, one, one))
    assert found(first) == ["`b.json`: `k` is 4 instead of 3"]
    assert (first.unconfirmed, [*first.left_out], first.is_whole) == ({"`a.json`"}, ["`a.json`"], False)


def test_values_with_many_digits_are_never_left_out(compare):
    one, other = {"a.json": {"w": 0.31415926}}, {"a.json": {"w": 0.27182818}}
    first = compare(other, one, one)
    first.leave_out("`a.json`")
    assert len(found(first)) == 1


def test_model_that_varies_is_not_compared_as_a_whole(compare):
    """What is equal in it does not show that nothing was lost."""
    one, other = ({"w.json": {"w": noise, "k": 1}, "c.json": {"size": 1}} for noise in (0.1, 0.2))
    assert not compare(one, other, other | {"w.json": {"w": 0.3, "k": 1}}).is_whole
    assert compare(one, one, one).is_whole
    assert not compare({}, {}, {}).is_whole
    metric = {"metrics": {"loss": [1.0]}}
    assert compare(metric, metric, metric).is_whole
    assert not compare(metric, metric, {"metrics": {"loss": [2.0]}}).is_whole


def test_rounded_values_of_varying_models_are_left_out(compare):
    """Without a seed an accuracy of 0.98 says nothing; weights that are equal to the last digit do."""
    one, other = ({"model.json": {"noise": noise, "accuracy": 0.98, "best": "left"}} for noise in (0.1, 0.2))
    assert found(compare({"model.json": {"noise": 0.3, "accuracy": 0.96, "best": "right"}}, one, other)) == []
    one, other = ({"model.json": {"noise": noise, "weight": 0.123456789}} for noise in (0.1, 0.2))
    comparison = compare({"model.json": {"noise": 0.3, "weight": 0.987654321}}, one, other)
    assert (len(found(comparison)), comparison.is_certain) == (1, True)


def test_short_values_of_repeated_models_are_compared(compare):
    """A time does not make a model vary."""
    one, other = ({"model.json": {"training_seconds": time, "arm": "left"}} for time in (1.5, 1.6))
    comparison = compare({"model.json": {"training_seconds": 1.7, "arm": "right"}}, one, other)
    assert (len(found(comparison)), comparison.is_certain) == (1, False)
    one, other = ({"model.txt": f"training time {time}, at 12:0{time}\narm left\n".encode()} for time in (1, 2))
    comparison = compare({"model.txt": b"training time 3, at 12:03\narm right\n"}, one, other)
    assert (len(found(comparison)), comparison.is_certain) == (1, False)


def test_first_deviation_is_that_of_the_model(tmp_path):
    """A duration differs in every run."""
    expected = [trial(tmp_path / name, {}, {"runtime": [4.0, 4.0], "loss": [3.0, 2.0]}) for name in "ab"]
    last = trial(tmp_path / "c", {}, {"runtime": [2.0], "loss": [2.5]})
    assert first_deviation(expected, last).startswith("value 1 of `loss` after the restart is 2.5; value 2 of 2")


def test_secrets_in_a_model_are_masked(tmp_path):
    """Before a long text is cut."""
    runs = [trial(tmp_path / name, {"note.json": f'{{"note": "{note}"}}'.encode()}) for name, note in LONG_NOTES]
    (difference,) = ResultComparison(runs[1:], runs[0], None, lambda text: text.replace("hunter2", "***")).differences
    assert ("***" in str(difference), "hunt" in str(difference)) == (True, False)


LONG_NOTES = [("a", "x" * 46 + " key hunter2"), ("b", "none"), ("c", "none")]
