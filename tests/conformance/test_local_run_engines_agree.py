"""The engines of a local run give a job the same files, variables, and end, except for the differences listed here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smspec.local.engines.namespace.availability import probe
from support.local.local_jobs import LocalJob, script

SPECS = Path(__file__).parents[2] / "specs"
OTHER = "namespace"

DIFFERENT_VARIABLES = {
    "DMLC_INTERFACE": "a process communicates over loopback, or with an `eth0` of its own",
    "NCCL_SOCKET_IFNAME": "the same",
    "SM_NETWORK_INTERFACE_NAME": "the same",
    "SM_RESOURCE_CONFIG": "it contains the interface",
    "SM_TRAINING_ENV": "the same",
    "MASTER_ADDR": "the names of hosts cannot be resolved where they are processes",
    "MASTER_PORT": "processes of two runs share the ports of this machine",
}
"""Variables of a job whose values depend on the engine, and why."""

OF_THE_JOB = re.compile(
    r"SM_|TRAINING_JOB_|DMLC_|NCCL_|MASTER_|KMP_|CURRENT_HOST|AWS_REGION|LANG|LC_|PYTHONUN|MINE|IMAGE_"
)

pytestmark = pytest.mark.skipif(bool(probe().step), reason=f"namespaces are unavailable: {probe().step}")


class Ended:
    """What a run of one engine leaves, with the paths of a container."""

    def __init__(self, job: LocalJob, engine: str, **request: object) -> None:
        done = job.run(engine=engine, **request)
        self.status = done.returncode
        self.summary = job.summary()
        self.log = {host["host"]: job.log(host["host"]) for host in self.summary["hosts"]}
        self.files = self._files(job)
        self.models = job.archive() if self.summary["model"] else {}
        self.flows = [
            (flow["host"], flow["channel"], flow["mode"], flow["epoch"], flow["size"])
            for flow in self.summary["channels"]
        ]
        self._job = job

    def inside(self, text: str, host: str = "algo-1") -> str:
        """Return a text in which the directories of a process are those of a container."""
        root = str(self._job.host(host).parents[1])
        return text.replace(f"{root}/usr/local/bin/python", "/usr/local/bin/python3").replace(root, "")

    def _files(self, job: LocalJob) -> dict[str, list[str]]:
        return {
            host["host"]: sorted(
                str(path.relative_to(job.host(host["host"]))) for path in job.host(host["host"]).rglob("*")
            )
            for host in self.summary["hosts"]
        }


def assert_equal(first: Ended, second: Ended) -> None:
    assert (first.status, first.summary["status"], first.summary["exit_status"]) == (
        second.status,
        second.summary["status"],
        second.summary["exit_status"],
    )
    assert first.files == second.files
    assert first.models == second.models
    assert first.flows == second.flows
    assert first.summary["failed_host"] == second.summary["failed_host"]


SHOWING = """
    import json, os, sys
    print("SHOWN", json.dumps([sys.argv, os.getcwd(), dict(os.environ)]), flush=True)
    with open(os.environ["SM_MODEL_DIR"] + "/part-" + os.environ["SM_CURRENT_HOST"], "w") as part:
        part.write("x")
    if "fail" in sys.argv:
        raise ValueError("no rows")
"""


@pytest.mark.parametrize(("end", "count"), [("pass", 2), ("fail", 1)])
def test_one_job_is_the_same_on_every_engine(tmp_path, end, count):
    """Arguments, directory, variables, files, status, and failure text."""
    job = LocalJob(tmp_path / "job")
    script(
        job,
        SHOWING,
        f"""
hosts: {{instance_type: ml.m5.large, count: {count}, volume: 1GB}}
channels: {{train: {{s3: "s3://data/train/", local: data/, distribution: ShardedByS3Key}}}}
environment: {{MINE: a b}}
hyperparameters: {{end: {end}, lr: 1e-3}}
image: {{base: "python:3.12-slim-bookworm", env: {{IMAGE_A: "1"}}}}
""",
    )
    for name in "abc":
        job.write(f"data/{name}", name * 1000)
    ended = {engine: Ended(job, engine) for engine in ("process", OTHER)}
    assert_equal(*ended.values())
    first, second = ended.values()
    assert first.inside(first.summary["failure_reason"] or "") == (second.summary["failure_reason"] or "")
    for host in first.log:
        shown = []
        for each in (first, second):
            line = next(line for line in each.log[host].splitlines() if line.startswith("SHOWN"))
            shown.append(json.loads(each.inside(line.removeprefix("SHOWN "), host)))
        (words, directory, variables), (others, other_directory, other_variables) = shown
        assert (words, directory) == (others, other_directory)
        kept = [{k: v for k, v in each.items() if OF_THE_JOB.match(k)} for each in (variables, other_variables)]
        different = {name for name in kept[0].keys() | kept[1].keys() if kept[0].get(name) != kept[1].get(name)}
        assert different <= DIFFERENT_VARIABLES.keys(), {name: [each.get(name) for each in kept] for name in different}


@pytest.mark.parametrize("name", ["script-mode", "sharded-similarity", "pipe-byo"])
def test_examples_are_the_same_on_every_engine(tmp_path, name):
    job = LocalJob(tmp_path / name)
    leave = shutil.ignore_patterns("build", "run", "__pycache__")
    shutil.copytree(SPECS / name, job.directory, ignore=leave, dirs_exist_ok=True)
    if (job.directory / "make_data.py").exists():
        subprocess.run([sys.executable, "make_data.py"], cwd=job.directory, check=True, stdout=subprocess.DEVNULL)
    first, second = Ended(job, "process"), Ended(job, OTHER)
    assert first.status == 0
    assert_equal(first, second)
