"""`logs`, `stop`, and `collect` of a spec concern the newest of its jobs."""

import json

import pytest

from support.servers.job_server import CREATED, job_server, look
from support.small_job import READY, write_job
from support.smspec_command import smspec

SPEC = (
    READY + "region: us-west-2\nvars: {runs: {default: 1}}\nretries: ${{ vars.runs }}\noverlays: {prod: {retries: 3}}\n"
)


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, SPEC)
    with job_server() as running:
        for name, value in running.environ.items():
            monkeypatch.setenv(name, value)
        yield running


def name_of(*options):
    done = smspec("render", "--api-json", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)["TrainingJobName"]


def training(time=0):
    return [look("InProgress", "Training", start=60, began=60, members={"CreationTime": CREATED + time})]


def test_newest_repetition_is_stopped(server):
    name = name_of()
    server.jobs = {name: [look("Failed")], f"{name}-2": training(9)}
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [f"{name}-2"]), done.err


@pytest.mark.parametrize("options", [["-O", "prod"], ["--set", "vars.runs=2"]])
def test_variant_selects_the_job(server, options):
    server.jobs = {name_of(*options): training(), name_of(): training()}
    assert name_of(*options) != name_of()
    done = smspec("stop", "job.yaml", *options)
    assert (done.status, server.stopped) == (0, [name_of(*options)]), done.err


def test_log_of_a_spec(server):
    server.jobs = {name_of(): training()}
    server.log("algo-1", 1, "epoch 1", job=name_of())
    done = smspec("logs", "job.yaml")
    assert (done.status, done.out) == (0, "algo-1 | epoch 1\n"), done.err


def test_job_of_a_spec_that_goes_on_has_no_result(server):
    server.jobs = {name_of(): training()}
    done = smspec("collect", "./job.yaml")
    assert done.status == 1 and f"the job `{name_of()}` is InProgress" in done.err


@pytest.mark.parametrize("command", ["logs", "stop", "collect"])
def test_job_that_was_never_submitted_exits_1(server, command):
    done = smspec(command, "job.yaml")
    assert (done.status, done.out) == (1, "")
    assert f"its job `{name_of()}` does not exist; run `smspec submit`" in done.err


@pytest.mark.parametrize("options", [["-O", "prod"], ["--set", "vars.a=1"], ["--run-id", "x"]])
def test_options_of_a_spec_do_not_fit_a_name(server, options):
    done = smspec("stop", "nightly", *options)
    assert (done.status, server.asked) == (2, {})


def test_name_of_a_job_wins_over_a_file(server, tmp_path):
    (tmp_path / "nightly").write_text("a: [")
    server.jobs = {"nightly": training()}
    assert (smspec("stop", "nightly").status, server.stopped) == (0, ["nightly"])
    assert smspec("stop", "./nightly").status == 1
