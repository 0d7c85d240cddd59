"""`smspec compare`: two jobs or local runs side by side."""

import json
import math
import sys

import pytest

from support.git_repository import commit, repository
from support.servers.job_server import look
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

METRIC = 'metrics: [{name: loss, regex: "loss=([0-9.]+)"}]\n'
ENDED = look("Completed", began=60, ended=180, billable=120)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\n::error::"


@pytest.fixture
def server(sagemaker, monkeypatch, tmp_path):
    sagemaker.reset()
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, READY + METRIC)
    (tmp_path / "smspec.toml").write_text("[prices]\n'ml.m5.large' = 0.5\n")
    return sagemaker


def request(**members):
    return {**json.loads(smspec("render", "--api-json").out), **members}


def put(server, name, *lines, **members):
    tags = ["smspec:digest=x", f"smspec:git-commit={name * 5}"]
    server.put(request(**members), ENDED, name=name, tags=tags)
    for number, line in enumerate(lines):
        server.log("algo-1", number, line, job=name)


def run_of(directory, values=(), **summary):
    directory.mkdir(parents=True)
    (directory / "run.json").write_text('{"kind": "smspec run", "job": "small-0123456789", "status": "Completed"}')
    known = {
        "job": "small",
        "status": "Completed",
        "started": "2023-11-14T22:13:20Z",
        "seconds": 12.5,
        "versions": {"python": "3.12.1", "engine": "namespace"},
        "metrics": [{"name": "loss", "last": str(values[-1])}] if values else [],
        "metric_values": [
            {"metric": "loss", "host": "algo-1", "count": len(values), "every": 1, "values": list(values)}
        ],
    }
    (directory / "summary.json").write_text(json.dumps({**known, **summary}))


def test_jobs_have_changes_curves_cost_and_environment(server):
    put(server, "first", "loss=1.0", "loss=0.8", "loss=0.6", HyperParameters={"lr": "0.1"})
    put(server, "second", "loss=1.0", "loss=0.5", "loss=0.3", HyperParameters={"lr": "0.01"})
    done = smspec("compare", "first", "second", columns=80)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "A  first, us-west-2",
        "B  second, us-west-2",
        "",
        "changed from A to B",
        "  hyperparameters.lr 0.1 → 0.01",
        "",
        "metrics",
        "  loss: 0.6 → 0.3 (-0.3, -50 %)",
        "    A algo-1  █▆▄  1 to 0.6",
        "    B algo-1  █▃▁  1 to 0.3",
        "",
        "cost and environment",
        "  state: Completed, both",
        "  began: 2023-11-14T22:13:20Z, both",
        "  duration: 2 min 00 s, both",
        "  cost: $0.02 of at most $12.00, both",
        "  place: us-west-2, both",
        "  commit: firstfirstfirstfirstfirst → secondsecondsecondsecondsecond",
        "  hosts: 1 × ml.m5.large, both",
        "  image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1, both",
    ]


def test_run_and_job_of_one_request_are_equal(server, tmp_path):
    put(server, "first", "loss=0.5", HyperParameters={"lr": "0.1"})
    run_of(tmp_path / "run/small", (0.9, 0.4), request=request(HyperParameters={"lr": "0.1"}), git_commit="c" * 40)
    out = smspec("compare", "./run/small", "first").out
    assert "changed from A to B\n  nothing in the request\n" in out
    assert "  loss: 0.4 → 0.5 (+0.1, +25 %)\n" in out
    assert f"  commit: {'c' * 40} → {'first' * 5}\n" in out
    assert "  python: 3.12.1 → -\n" in out
    run_of(tmp_path / "run/other", (0.9, 0.4), request=request(HyperParameters={"lr": "0.2"}))
    assert "  hyperparameters.lr 0.1 → 0.2\n" in smspec("compare", "first", "run/other").out


def test_json_has_finite_numbers_only(server, tmp_path):
    run_of(tmp_path / "run/a", (0.5, None, 0.25), request=request())
    run_of(tmp_path / "run/b", (1, 2), metrics=[{"name": "loss", "last": "nan"}])
    done = smspec("compare", "run/a", "run/b", "--format", "json")
    found = json.loads(done.out, parse_constant=lambda word: pytest.fail(word))
    assert found["metrics"] == [{"name": "loss", "a": 0.25, "b": None}]
    assert [each["values"] for each in found["curves"]] == [[0.5, None, 0.25], [1.0, 2.0]]
    assert found["changes"] is None
    assert found["notes"] == ["the requests are not compared: one is not known"]


def test_page_has_one_chart_for_each_metric(server, tmp_path):
    run_of(tmp_path / "run/a", (0.5, 0.3, 0.25), request=request(HyperParameters={"a": HOSTILE}))
    run_of(tmp_path / "run/b", (0.6, 0.2), job=HOSTILE, request=request())
    page = smspec("compare", "run/a", "run/b", "--format", "html").out
    assert page.count("<svg") == 1
    assert page.count('<path class="curve"') == 2
    assert "A algo-1" in page and "B algo-1" in page
    assert "<script>alert" not in page and "\x1b" not in page


@pytest.mark.parametrize(
    "odd",
    [
        {"metric_values": [3, {"metric": 1}, {"metric": "m", "host": "h", "count": -1, "every": 0, "values": [1, 2]}]},
        {"metric_values": [{"metric": "m", "host": HOSTILE, "count": 2, "every": 1, "values": ["x", True, 10**400]}]},
        {"metric_values": [{"metric": "m", "host": "h", "count": 2, "every": 1, "values": [1e308, -1e308]}]},
        {"metric_values": {}, "metrics": [{"name": "m", "last": "1e999"}], "versions": [], "engine": 5},
        {"request": {"HyperParameters": [], "ResourceConfig": 5, "InputDataConfig": {"a": 1}}, "status": 7},
        {"request": {"ResourceConfig": {"InstanceCount": math.inf, "InstanceType": HOSTILE}}, "seconds": math.nan},
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_odd_summaries_are_shown(server, tmp_path, odd, form):
    run_of(tmp_path / "run/a", (0.5, 0.3), request=request())
    run_of(tmp_path / "run/b", (), **odd)
    for words in (("compare", "run/a", "run/b"), ("history", "--local")):
        done = smspec(*words, "--format", form)
        assert done.status == 0, done.err
        assert "\x1b" not in done.out and "\u202e" not in done.out
        assert form != "json" or json.loads(done.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_deeply_nested_summaries_are_shown(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate("ab"):
        run_of(tmp_path / "run" / name, (0.5, 0.3), request={"HyperParameters": {"lr": "nested"}})
        summary = tmp_path / "run" / name / "summary.json"
        summary.write_text(summary.read_text().replace('"nested"', "[" * 700 + str(number) + "]" * 700))
    for words in (("compare", "run/a", "run/b"), ("history", "--local")):
        done = smspec(*words, "--format", form)
        assert done.status == 0, done.err
        assert "not finished" in done.out


def test_job_without_a_log_or_tags_is_shown(server):
    put(server, "first", "loss=1.0", "loss=0.8")
    server.faults["DescribeLogStreams"] = [(400, "AccessDeniedException")]
    server.faults["ListTags"] = [(400, "AccessDeniedException")]
    done = smspec("compare", "first", "first")
    assert done.status == 0
    assert "first is shown without curves: AWS denies `logs:DescribeLogStreams`" in done.err
    assert "first is shown without its commit: AWS denies `sagemaker:ListTags`" in done.err


def test_words_that_are_neither_exit_2_and_missing_jobs_1(server, tmp_path):
    put(server, "first")
    assert smspec("compare", "first", "./src").status == 2
    assert smspec("compare", "first").status == 2
    done = smspec("compare", "first", "weekly")
    assert (done.status, done.out) == (1, "")
    assert "the job `weekly` in us-west-2" in done.err


def test_runs_have_their_commit_and_what_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(repository(tmp_path / "jobs"))
    write_job(tmp_path / "jobs", BUILT + "environment: {API_TOKEN: hunter2hunter2}\n")
    head = commit(tmp_path / "jobs")
    runs = [smspec("run", "--engine", "process", "--no-install", "--python", sys.executable, "-o", "out/first")]
    write_job(tmp_path / "jobs", BUILT.replace("epochs: 2", "epochs: 3") + "environment: {API_TOKEN: hunter3hunter3}\n")
    runs.append(smspec("run", "--engine", "process", "--no-install", "--python", sys.executable, "-o", "out/second"))
    assert [each.status for each in runs] == [0, 0], runs[0].err
    done = smspec("history", "--local", "--format", "json")
    assert "hunter" not in done.out + "".join(each.read_text() for each in tmp_path.glob("jobs/out/*/summary.json"))
    second, first = sorted(json.loads(done.out)["jobs"], key=lambda each: each["directory"], reverse=True)
    assert (first["git_commit"], first["git_dirty"], second["git_commit"], second["git_dirty"]) == (
        *(head, False),
        *(head, True),
    )
    shown = smspec("compare", "./out/first", "./out/second").out
    assert "  hyperparameters.epochs 2 → 3\n" in shown
    assert f"  commit: {head} → {head}, with changes that it does not contain\n" in shown
