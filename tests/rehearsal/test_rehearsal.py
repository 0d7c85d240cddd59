"""Rehearsals of whole jobs with real processes."""

from __future__ import annotations

import json
import signal
import time
from xml.etree import ElementTree

import pytest

from support.rehearsal.rehearsed_jobs import DEADLINE, LOOP, RehearsedJob


@pytest.fixture
def job(tmp_path):
    job = RehearsedJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def test_right_job_keeps_its_promises(job):
    job.write_job()
    promises = job.promises()
    states = {name: promise["state"] for name, promise in promises.items()}
    assert (states["spot"], states["lost-host"]) == ("kept", "kept")
    assert "broken" not in states.values(), promises
    assert json.loads((job.rehearsal / "rehearsal.json").read_text())["promises"] == [*promises.values()]


def test_lost_optimizer_state_is_found(job):
    """The difference names the first metric, the file, and the value; the log is there to be read."""
    job.write_job(LOOP.replace('state = saved["state"]', 'state = {**saved["state"], "momentum": 0.0}'))
    found = job.promises("--only", "spot")["spot"]
    assert found["state"] == "broken"
    assert found["seen"][0].startswith("metric `loss` is ")
    assert "`model.json`: `" in found["seen"][1]
    assert "SIGTERM after" in found["moment"]
    assert "loss=" in (job.directory / found["log"]).read_text()
    assert found["advice"]


def test_undisturbed_failure_ends_the_rehearsal(job):
    job.write_job("raise ValueError('too high')")
    ended = job.rehearse("--format", "junit")
    assert ended.returncode == 1
    suite = ElementTree.fromstring(ended.stdout)[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", str(len(suite) - 1))
    assert "ValueError: too high" in suite[0][0].text


def test_ctrl_c_leaves_nothing(job):
    job.write_job(LOOP.replace("EPOCHS, STEPS = 5, 4", "EPOCHS, STEPS = 500, 4"))
    process = job.begin()
    log = job.rehearsal / "trials" / "undisturbed-1" / "logs" / "algo-1.log"
    end = time.monotonic() + DEADLINE
    while not (log.exists() and "epoch 2" in log.read_text()):
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert not job.rehearsal.exists()
