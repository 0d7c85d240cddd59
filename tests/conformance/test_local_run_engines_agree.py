"""The engines of a local run give a job the same files, variables, and end, except for what docs/local-run.md lists."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.docker_engine import BASE as PLAIN
from support.local.engine_runs import PROGRAM, Ended, differences, documented
from support.local.local_jobs import LocalJob
from support.local.stand_in_frameworks import MXNET, TENSORFLOW, write_torchrun
from support.sampled_cases import HAS_ENGINES, sampled

pytest_plugins = ["support.docker_engine", "support.podman_engine"]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/local-run.md"
EXAMPLES = sorted(path.parent.name for path in (ROOT / "specs").glob("*/job.yaml"))
OF_MPI = ("smspec-test-mpi:bookworm", "openmpi-bin", "python3-mpi4py")
BASE = OF_MPI if HAS_ENGINES else (PLAIN,)
"""An image and its packages. Without cases of mpi, the sample needs what the other tests of an engine have unpacked."""
WHEELS = "/opt/wheels"
IMAGE = "python:3.11-slim-bookworm"
"""Of Debian's version, which the containers have: `sum` of 3.12 rounds differently."""

SPEC = """
source: src/
entry_point: {entry_point}
{distribution}
hosts: {{instance_type: ml.m5.large, count: {count}, volume: 1GB}}
input_mode: {mode}
channels: {{train: {{s3: "s3://data/train/", local: data/, distribution: ShardedByS3Key}}}}
environment: {{MINE: 'a "b" $HOME, ä'}}
hyperparameters: {{end: {end}, lr: 1e-3, layers: [1, 2], name: "5"}}
image:
  base: "{image}"
  env: {{IMAGE_A: "1 2"}}
  python_packages: [launching==1.0]
  build_args: {{PIP_NO_INDEX: "1", PIP_FIND_LINKS: {wheels}}}
"""
LAUNCHERS = {
    "script": "",
    "command": "",
    "pipe loop": "",
    "torchrun": "{torchrun: {processes_per_host: 2}}",
    "mpi": "{mpi: {processes_per_host: 2}}",
    "mxnet": "{parameter_server: {framework: mxnet}}",
    "tensorflow": "{parameter_server: {framework: tensorflow}}",
}
ENTRY_POINTS = {
    "command": '{command: [./go.sh, "a b", $HOME]}',
    "mpi": "{command: [./go.sh]}",
    "pipe loop": '{pipe_loop: "train:Loop", epochs: 2}',
}
SAMPLES = {
    "process": ("script pass", "command pass", "pipe loop raise", "mxnet pass"),
    "docker": ("script pass", "pipe loop raise", "torchrun pass"),
    "podman": (),
}
"""What may differ between engines is what a host gets (variables, files, mounts, limits, network, FIFOs) and how it
passes on its end: one that passes and one that raises have all of that, and the third starts processes. Of podman,
test_local_run_podman.py is in the sample, and of mpi test_docker_mpi.py. SMSPEC_ALL_ENGINES=1 also runs the others."""
RAISING = ("script", "pipe loop", "torchrun", "mpi")
CASES = [*((launcher, "pass") for launcher in LAUNCHERS), *((launcher, "raise") for launcher in RAISING)]

OF_THE_JOB = re.compile(
    r"SM_|TRAINING_JOB_|SAGEMAKER_|DMLC_|NCCL_|MASTER_|KMP_|CURRENT_HOST|AWS_REGION|LANG|LC_|PYTHON|MINE|IMAGE_"
    r"|TF_CONFIG|WORLD_SIZE|RANK|LOCAL_RANK|OMP_|OMPI_COMM|HOME|PATH"
)
"""Variables that a job may read. A host that is a process has the author's variables too."""


OF_ONE_RUN = ("$PMIX_*", "$OMPI_MCA_*", "$OMPI_FILE_LOCATION", "$_", "$SHLVL")
"""Numbers and directories that mpirun chooses, and what shells leave."""


class Engines:
    """Runs of jobs on the engines of this machine; one job runs once on each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ended: dict[tuple[str, str], Ended] = {}
        self.environments: dict[str, dict[str, str]] = {}
        (directory / "wheels").mkdir()
        write_torchrun(directory / "wheels")

    @property
    def wheels(self) -> Path:
        return self._directory / "wheels"

    def ended(self, name: str, engine: str) -> Ended:
        if (name, engine) not in self._ended:
            job = LocalJob(self._directory / f"{engine} {len(self._ended)}")
            launcher, _, end = name.partition(": ")
            self._describe(job, launcher, end) if launcher in LAUNCHERS else self._copy(job, name)
            packages = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
            self._ended[name, engine] = Ended(job, engine, {**packages, **self.environments.get(engine, {})})
        return self._ended[name, engine]

    def _describe(self, job: LocalJob, launcher: str, end: str) -> None:
        values = {
            "distribution": LAUNCHERS[launcher] and f"distribution: {LAUNCHERS[launcher]}",
            "entry_point": ENTRY_POINTS.get(launcher, "train.py"),
            "image": IMAGE,
            "wheels": WHEELS,
            "mode": "Pipe" if launcher == "pipe loop" else "FastFile" if launcher == "torchrun" else "File",
            "count": 1 if end == "raise" and launcher != "mpi" else 2,
            "end": end,
        }
        job.spec(SPEC.format(**values))
        job.write("src/train.py", PROGRAM)
        job.write("src/go.sh", '#!/bin/sh\nexec python3 train.py "$@"\n')
        (job.directory / "src/go.sh").chmod(0o755)
        job.write("src/mxnet.py", MXNET)
        job.write("src/tensorflow.py", TENSORFLOW)
        for name in "abc":
            job.write(f"data/{name}", name * 1000)

    def _copy(self, job: LocalJob, example: str) -> None:
        leave = shutil.ignore_patterns("build", "run", "__pycache__")
        shutil.copytree(ROOT / "specs" / example, job.directory, ignore=leave, dirs_exist_ok=True)
        spec = (job.directory / "job.yaml").read_text()
        job.write("job.yaml", spec.replace("python:3.12-slim-bookworm", IMAGE))
        if (job.directory / "make_data.py").exists():
            subprocess.run([sys.executable, "make_data.py"], cwd=job.directory, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    return Engines(tmp_path_factory.mktemp("engines"))


@pytest.fixture
def other(request, engines):
    """The engine to compare with `namespace`; a container engine has the base, with the same packages."""
    case = request.node.callspec.id.removesuffix(f"-{request.param}")
    if case not in SAMPLES.get(request.param, (case,)) and not os.environ.get("SMSPEC_ALL_ENGINES"):
        pytest.skip(f"not in the sample for {request.param}: set SMSPEC_ALL_ENGINES=1")
    if request.param == "docker" and "docker" not in engines.environments:
        engine = request.getfixturevalue("engine")
        engine.import_debian(*BASE)
        engine.make_python_image(BASE[0], engines.wheels, IMAGE)
        path = f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}"
        engines.environments["docker"] = {"DOCKER_HOST": engine.host, "PATH": path}
    if request.param == "podman" and "podman" not in engines.environments:
        podman = request.getfixturevalue("podman")
        podman.import_debian(*BASE)
        podman.make_python_image(BASE[0], engines.wheels, IMAGE)
        engines.environments["podman"] = podman.environment()
    return request.param


OTHERS = [
    pytest.param("process", marks=pytest.mark.xdist_group("processes")),
    pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    pytest.param("podman", marks=[pytest.mark.docker, pytest.mark.xdist_group("podman")]),
]


@sampled(1)  # SAMPLES has those of each engine
@pytest.mark.needs_namespaces
@pytest.mark.parametrize("other", OTHERS, indirect=True)
@pytest.mark.parametrize(("launcher", "end"), CASES, ids=[" ".join(case) for case in CASES])
def test_launchers_are_the_same_on_every_engine(engines, launcher, end, other):
    if launcher == "mpi":
        if other == "process":
            pytest.skip("the engine `process` does not support MPI")
        if not (shutil.which("mpirun") and shutil.which("ssh-keygen")):
            pytest.skip("no mpirun or no ssh-keygen")
    first, second = (engines.ended(f"{launcher}: {end}", engine) for engine in ("namespace", other))
    assert first.facts["exit_status"] == {"pass": 0, "raise": 1}[end], first.error
    assert any(name.endswith("arguments") for name in first.facts)
    assert_same(first, second)


@sampled(1)  # SAMPLES has those of each engine
@pytest.mark.needs_namespaces
@pytest.mark.parametrize("other", OTHERS, indirect=True)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_the_same_on_every_engine(engines, name, other):
    if name == "torchrun-ddp":
        pytest.skip("PyTorch is too large: test_docker_torch.py")
    first, second = (engines.ended(name, engine) for engine in ("namespace", other))
    assert first.facts["exit_status"] == 0, first.error
    assert_same(first, second)


def assert_same(first: Ended, second: Ended) -> None:
    allowed = [*OF_ONE_RUN, *(name for each in (first, second) for name in documented(PAGE, each.engine))]
    unexpected = {
        name: values
        for name, values in differences(first, second).items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)
        and (second.engine != "process" or not name.startswith("$") or OF_THE_JOB.match(name[1:]))
    }
    assert unexpected == {}, second.error
