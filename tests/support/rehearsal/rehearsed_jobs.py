"""Jobs that are rehearsed in tests: a small training loop, and variants of it with a bug."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from support.forked_command import start_command
from support.local.local_jobs import LocalJob

DEADLINE = 240

SPEC = """\
source: src/
entry_point: train.py
spot: {max_wait: 2h}
stopping: {max_runtime: 1h}
checkpoints: s3://models/checkpoints/
metrics: [{name: loss, regex: 'loss=([0-9.eE+-]+)'}]
"""

LOOP = """\
import json, os, random, time

BASE = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
CHECKPOINT = BASE + "/checkpoints/state.json"
EPOCHS, STEPS = 5, 4

def load():
    state = {"epoch": 0, "weight": 0.0, "momentum": 0.0, "losses": []}
    if os.path.exists(CHECKPOINT):
        with open(CHECKPOINT) as file:
            saved = json.load(file)
        state = saved["state"]
        version, internal, gauss = saved["random"]
        random.setstate((version, tuple(internal), gauss))
    return state

def save(state):
    with open(CHECKPOINT + ".part", "w") as file:
        json.dump({"state": state, "random": random.getstate()}, file)
    os.replace(CHECKPOINT + ".part", CHECKPOINT)

random.seed(0)
state = load()
while state["epoch"] < EPOCHS:
    loss = 0.0
    for _ in range(STEPS):
        x = random.random()
        error = state["weight"] * x - 1
        state["momentum"] = 0.9 * state["momentum"] + error * x
        state["weight"] -= 0.1 * state["momentum"]
        loss += error * error
        time.sleep(0.01)
    state["epoch"] += 1
    state["losses"].append(loss)
    save(state)
    print(f"epoch {state['epoch']} loss={loss}", flush=True)
    time.sleep(0.1)
with open(os.environ["SM_MODEL_DIR"] + "/model.json", "w") as file:
    json.dump({**state, "trained_at": time.time()}, file)
"""


class RehearsedJob(LocalJob):
    """A job in a directory, and its rehearsals."""

    def write_job(self, program: str = LOOP, spec: str = SPEC) -> None:
        """Write the spec and the script."""
        self.spec(spec)
        self.write("src/train.py", program)

    def begin(self, *words: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start a rehearsal."""
        self.process = start_command(
            ["rehearse", "--engine", self.engine, "-o", str(self.rehearsal), *words],
            cwd=self.directory,
            env={**os.environ, "SMSPEC_STOP_GRACE": "5", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process

    def rehearse(self, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Rehearse to the end; nothing may be left."""
        process = self.begin(*words, environment=environment)
        out, err = process.communicate(timeout=DEADLINE)
        assert "Traceback" not in err, err
        self.assert_nothing_left()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def promises(self, *words: str, environment: dict[str, str] | None = None) -> dict[str, dict]:
        """Rehearse, and return the promises by name; the exit status must fit, and what a broken one names exists."""
        ended = self.rehearse("--format", "json", *words, environment=environment)
        assert ended.stdout, ended.stderr
        found = {promise["name"]: promise for promise in json.loads(ended.stdout)["promises"]}
        broken = [name for name, promise in found.items() if promise["state"] == "broken"]
        assert ended.returncode == (1 if broken else 0), ended.stderr
        for named in (found[name][kind] for name in broken for kind in ("log", "directory") if found[name][kind]):
            assert os.path.exists(os.path.join(self.directory, named)), named
        return found

    @property
    def rehearsal(self) -> Path:
        return self.directory / "rehearsal" / "job"
