"""The PyTorch example in containers, with PyTorch from Debian's archive: two hosts train as one does."""

import os
import re
import shutil
from pathlib import Path

import pytest

from support.local.local_jobs import LocalJob

pytest_plugins = ["support.docker_engine"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("docker"),  # one engine, where xdist is told to keep groups together
    pytest.mark.skipif(not os.environ.get("SMSPEC_PYTORCH_IMAGE"), reason="`make test-containers` has this image"),
]

EXAMPLE = Path(__file__).parents[2] / "specs/torchrun-ddp"
BASE = "smspec-test-torch:bookworm"
# Debian has the modules of torchrun, and not the program. They are of PyTorch 1.13, and find no zero in a Flag of 3.11.
DOCKERFILE = f"""\
FROM {BASE}
RUN printf '#!/bin/sh\\nexec python3 -m torch.distributed.run "$@"\\n' > /usr/bin/torchrun && chmod +x /usr/bin/torchrun
RUN sed -i 's/for s in Std:/for s in Std.__members__.values():/' \\
    /usr/lib/python3/dist-packages/torch/distributed/elastic/multiprocessing/api.py
"""
BATCH = 16


@pytest.fixture
def job(engine, tmp_path, monkeypatch):
    """The example, whose base has its packages."""
    engine.import_debian(BASE, "openmpi-bin", "python3-mpi4py", "python3-torch")
    (tmp_path / "base").mkdir()
    (tmp_path / "base/Dockerfile").write_text(DOCKERFILE)
    engine.build(tmp_path / "base", "torch")
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    job = LocalJob(tmp_path / "job", engine="docker")
    job.deadline = 600  # each process loads 400 MB of libraries
    leave = shutil.ignore_patterns("build", "run", "__pycache__")
    shutil.copytree(EXAMPLE, job.directory, ignore=leave, dirs_exist_ok=True)
    spec = (job.directory / "job.yaml").read_text()
    spec = re.sub(r"(?m)^  base: .*\n  python_packages: .*$", "  base: torch", spec)
    job.write("job.yaml", spec)
    return job


def trained(job, hosts, batch):
    """Return the loss of each epoch on this many hosts, each with batches of this size."""
    spec = (job.directory / "job.yaml").read_text()
    job.write("job.yaml", re.sub(r"batch_size: \d+", f"batch_size: {batch}", spec))
    ended = job.run(hosts=hosts)
    assert ended.returncode == 0, ended.stderr
    assert "model.pt" in job.archive()
    return [float(loss) for loss in re.findall(r"loss=([\d.]+)", job.log())]


def test_two_hosts_reach_the_loss_of_one(job):
    """With the same global batch: its rows are the same, in a different order."""
    one = trained(job, hosts=1, batch=2 * BATCH)
    two = trained(job, hosts=2, batch=BATCH)
    assert len(one) == len(two) == 3
    assert two == pytest.approx(one, rel=1e-3)
    assert one[-1] < one[0]
    source = (job.directory / "src/train.py").read_text()
    assert "    for epoch in" in source
    failing = "    if dist.get_rank() == 1:\n        raise ValueError('no rows')\n"
    job.write("src/train.py", source.replace("    for epoch in", f"{failing}    for epoch in"))
    ended = job.run(hosts=2)
    assert (ended.returncode, job.summary()["status"]) == (1, "Failed"), ended.stderr
    assert "ValueError: no rows\n" in (job.host("algo-2") / "output/failure").read_text()
