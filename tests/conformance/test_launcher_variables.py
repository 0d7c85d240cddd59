"""The variables of a checked script are those that the real launchers set for their first process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from smspec.proof.start import launcher_variables
from smspec.spec.model import Mpi, Torchrun

SHOW = """
import json, os, sys
if os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "0":
    open(os.path.join(os.path.dirname(__file__), "seen"), "w").write(json.dumps(dict(os.environ)))
"""
OF_THE_RUNTIME = {"NCCL_PROTO", "NCCL_IB_DISABLE", "NCCL_DEBUG", "MASTER_ADDR", "MASTER_PORT"}
OF_A_RUN = {"TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_RUN_ID", "MASTER_PORT"}


@pytest.fixture
def seen(tmp_path):
    """Return what the first process of a launcher has besides the environment of the launcher."""

    def started(*words: str) -> dict[str, str]:
        (tmp_path / "show.py").write_text(SHOW)
        before = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": "/tmp"}
        done = subprocess.run([*words, str(tmp_path / "show.py")], env=before, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / "seen").read_text())
        return {name: value for name, value in found.items() if name not in before}

    return started


@pytest.mark.parametrize("processes", [1, 2])
def test_torchrun_sets_these_variables(seen, processes):
    pytest.importorskip("torch")
    real = seen(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(processes))
    ours = launcher_variables(Torchrun(processes_per_host=processes), 1, "ml.m5.large", {})
    names = {name for name in real if name.isupper() and name != "LC_CTYPE"} - {
        "KMP_INIT_AT_FORK",
        "KMP_DUPLICATE_LIB_OK",
    }
    assert names <= set(ours) and set(ours) - names <= OF_THE_RUNTIME
    assert {name: real[name] for name in names - OF_A_RUN} == {name: ours[name] for name in names - OF_A_RUN}


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
def test_mpirun_sets_these_variables(seen):
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", sys.executable]
    real = seen(*words)
    ours = launcher_variables(Mpi(processes_per_host=2), 1, "ml.m5.large", {})
    names = set(ours) - OF_THE_RUNTIME
    assert {name: real.get(name) for name in names} == {name: ours[name] for name in names}
    assert {name for name in real if name.startswith("OMPI_COMM_WORLD_")} <= set(ours)


def test_processes_are_those_of_the_instance():
    assert launcher_variables(Torchrun(), 2, "ml.p4d.24xlarge", {})["WORLD_SIZE"] == "16"
    kept = launcher_variables(Torchrun(processes_per_host=4), 1, "ml.m5.large", {"OMP_NUM_THREADS": "8"})
    assert (kept["OMP_NUM_THREADS"], kept["WORLD_SIZE"]) == ("8", "4")
    assert launcher_variables(None, 1, "ml.m5.large", {}) == {}
