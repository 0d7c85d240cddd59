"""Ranks of MPI on two hosts: a right program survives, one whose ranks share a generator after a restart does not."""

from __future__ import annotations

import shutil
import sys

import pytest

from support.rehearsal.mpi_ranks import PROGRAM
from support.rehearsal.rehearsed_jobs import SPEC, RehearsedJob

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_namespaces,
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
