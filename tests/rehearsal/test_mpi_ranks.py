"""Ranks of MPI on two hosts: a right program survives, one whose ranks share a generator after a restart does not."""

from __future__ import annotations

import shutil
import sys

import pytest

from smspec.local.engines.namespace.availability import unavailable
from support.rehearsal.rehearsed_jobs import SPEC, RehearsedJob

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(unavailable() is not None, reason=f"no namespaces: {unavailable()}"),
    pytest.mark.skipif(
        not (shutil.which("mpirun") and shutil.which("ssh-keygen")), reason="no mpirun or no ssh-keygen"
    ),
]

MPI_SPEC = f"""\
image:
  base: "python:{sys.version_info[0]}.{sys.version_info[1]}-slim"
  python_packages: [mpi4py]
  system_packages: [openmpi-bin, openssh-server]
hosts: {{instance_type: ml.m5.large, count: 2, volume: 1GB}}
distribution: {{mpi: {{processes_per_host: 1}}}}
"""

PROGRAM = """\
import json, os, random, time
from mpi4py import MPI

ranks = MPI.COMM_WORLD
mine = random.Random(ranks.rank)
path = "/opt/ml/checkpoints/state.json"
step, weight, generators = 0, 0.0, None
if ranks.rank == 0 and os.path.exists(path):
    with open(path) as file:
        step, weight, generators = json.load(file)
step, weight, generators = ranks.bcast((step, weight, generators))
if generators:
    version, internal, gauss = generators[ranks.rank]
    mine.setstate((version, tuple(internal), gauss))
while step < 40:
    weight += 0.1 * (ranks.allreduce(mine.gauss(1, 0.5)) / ranks.size - weight)
    step += 1
    time.sleep(0.02)
    if step % 4 == 0:
        generators = ranks.gather(mine.getstate())
        if ranks.rank == 0:
            with open(path + ".tmp", "w") as file:
                json.dump([step, weight, generators], file)
            os.replace(path + ".tmp", path)
            print(f"step {step} loss={abs(1 - weight):.9f}", flush=True)
if ranks.rank == 0:
    with open(os.environ["SM_MODEL_DIR"] + "/weight.json", "w") as file:
        json.dump(weight, file)
"""


@pytest.fixture
def job(tmp_path):
    job = RehearsedJob(tmp_path / "job", "namespace")
    yield job
    job.assert_nothing_left()


@pytest.mark.parametrize("is_right", [True, False])
def test_lost_hosts_and_killed_ranks_of_mpi(job, is_right):
    pytest.importorskip("mpi4py")
    shared = PROGRAM.replace("generators[ranks.rank]", "generators[0]")
    job.write_job(PROGRAM if is_right else shared, SPEC + MPI_SPEC)
    words = ("--only", "lost-host", "--only", "killed-process", "--python", sys.executable)
    promises = job.promises(*words)
    assert promises["lost-host"]["state"] == ("kept" if is_right else "broken"), promises
    assert promises["killed-process"]["state"] == "kept", promises
    assert "SIGKILL ended a process of the launcher on algo-2" in promises["killed-process"]["seen"][0]
