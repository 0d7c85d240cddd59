"""Rehearsals of whole jobs with real processes."""

from __future__ import annotations

import json
import signal
import time
from xml.etree import ElementTree

import pytest

from smspec.local.engines.namespace.availability import probe
from support.rehearsal.rehearsed_jobs import DEADLINE, LOOP, SPEC, RehearsedJob
from support.sampled_cases import left_out

SPOT_SURVIVAL = ("spot", "progress", "lost-host", "half-written-checkpoint", "stop")


@pytest.fixture
def job(tmp_path):
    job = RehearsedJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def test_right_job_keeps_its_promises(job):
    job.write_job()
    promises = job.promises(*(word for name in SPOT_SURVIVAL for word in ("--only", name)))
    assert {name: promise["state"] for name, promise in promises.items()} == dict.fromkeys(SPOT_SURVIVAL, "kept")
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


def test_half_written_checkpoint_is_found(job):
    """A checkpoint that is written in place is cut to a half, and nothing else is wrong with the job."""
    in_place = LOOP.replace('CHECKPOINT + ".part", "w"', 'CHECKPOINT, "w"').replace(
        '    os.replace(CHECKPOINT + ".part", CHECKPOINT)\n', ""
    )
    job.write_job(in_place)
    found = job.promises("--only", "half-written-checkpoint")["half-written-checkpoint"]
    assert found["state"] == "broken"
    assert "`state.json` with " in found["seen"][0]
    assert "JSONDecodeError" in found["seen"][0]
    assert "os.replace" in found["advice"]


def test_link_as_a_checkpoint_is_not_followed(job, tmp_path):
    """It leads to a file of the author, of which the next start, with the internet, would get a half."""
    (tmp_path / "author").mkdir()
    (tmp_path / "author" / "id").write_text("TOP SECRET")
    start = LOOP.index("    with open(CHECKPOINT + ")
    link = f'    os.symlink({str(tmp_path / "author" / "id")!r}, CHECKPOINT + ".part")\n'
    planting = LOOP[:start] + link + LOOP[LOOP.index("    os.replace(") :]
    job.write_job(planting.replace("if os.path.exists(CHECKPOINT):", "if False:"))
    found = job.promises("--only", "half-written-checkpoint")["half-written-checkpoint"]
    assert (found["state"], found["seen"]) == ("not rehearsed", ["`state.json` is a link"])


def test_ignored_checkpoint_is_found(job):
    job.write_job(LOOP.replace("if os.path.exists(CHECKPOINT):", "if False:"))
    promises = job.promises("--only", "spot", "--only", "progress")
    found = promises["progress"]
    assert (promises["spot"]["state"], found["state"]) == ("kept", "broken"), "the model is the same"
    assert (job.directory / found["log"]).is_file()
    assert (job.directory / found["directory"]).is_dir()
    assert found["seen"][0].startswith("the restarted job did everything again (5 values of `loss`)")


@pytest.mark.parametrize("metrics", [True, False])
def test_lines_of_the_start_are_not_repeated_work(job, metrics):
    """A callback logs what it restores, as often as there are steps; the other job prints no step at all."""
    silent = LOOP.replace("    print(f\"epoch {state['epoch']} loss={loss}\", flush=True)\n", "")
    logs = "state = load()\nfor number in range(12):\n    print(f'restored tensor {number} loss=1', flush=True)\n"
    spec = SPEC if metrics else SPEC[: SPEC.index("metrics:")]
    job.write_job((LOOP if metrics else silent).replace("state = load()\n", logs), spec)
    found = job.promises("--only", "progress")["progress"]
    assert found["state"] == "kept", found["seen"]
    assert not list((job.rehearsal / "trials").glob("spot-*"))


def test_missing_checkpoints_are_found(job):
    job.write_job(LOOP.replace('"/checkpoints/state.json"', '"/output/data/state.json"'))
    found = job.promises("--only", "progress")["progress"]
    assert found["seen"] == [
        "the job wrote nothing to /opt/ml/checkpoints, so each interruption starts it from scratch"
    ]


def test_job_that_ignores_sigterm_is_found(job):
    job.write_job("import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(4)\n")
    found = job.promises("--only", "stop", environment={"SMSPEC_STOP_GRACE": "0.5"})["stop"]
    assert found["state"] == "broken"
    assert "after SIGTERM, and was killed" in found["seen"][0]


@pytest.mark.parametrize(("checkpoints", "state"), [left_out("own", "kept"), ("shared", "broken")])
def test_two_hosts_resume_each_from_its_checkpoint(tmp_path, checkpoints, state):
    """Both write to one prefix: with the same name, one of them continues from the state of the other."""
    if not probe().has_network:
        pytest.skip("this machine cannot connect hosts in namespaces")
    job = RehearsedJob(tmp_path / "job", engine="namespace")
    spec = f"{SPEC}hosts: {{instance_type: ml.m5.large, count: 2, volume: 1GB}}\n"
    own = LOOP.replace("state.json", "{os.environ['SM_CURRENT_HOST']}.json").replace('BASE + "', 'BASE + f"')
    own = own.replace("random.seed(0)", "random.seed(os.environ['SM_CURRENT_HOST'])").replace(
        "/model.json", "/{host}.json"
    )
    own = own.replace('+ "/{host}.json"', "+ f\"/{os.environ['SM_CURRENT_HOST']}.json\"")
    shared = own.replace("f\"/checkpoints/{os.environ['SM_CURRENT_HOST']}.json\"", '"/checkpoints/state.json"')
    assert shared != own
    job.write_job({"own": own, "shared": shared}[checkpoints], spec)
    assert job.promises("--only", "spot")["spot"]["state"] == state


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
