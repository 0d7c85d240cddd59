"""Several hosts without a launcher: the image of specs/sharded-similarity as three containers.

Docker's names are like SageMaker's at their worst: a host has one as long as its container runs.
"""

import itertools
import json
import shutil
from pathlib import Path

import pytest

from support.sampled_cases import only_with_all_engines
from support.smspec_command import smspec

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

SPEC = Path(__file__).parents[2] / "specs/sharded-similarity"
HOSTS = ("algo-1", "algo-2", "algo-3")
HOSTS_IN_TURN = [HOSTS[at:] + HOSTS[:at] for at in range(len(HOSTS))]
BASE = "python:3.12-slim-bookworm"


@pytest.fixture(scope="module")
def hyperparameters(engine, tmp_path_factory):
    """Build the image and the network that all runs use."""
    directory = tmp_path_factory.mktemp("spec") / "sharded-similarity"
    shutil.copytree(SPEC, directory, ignore=shutil.ignore_patterns("build", "run"))
    spec = directory / "job.yaml"
    spec.write_text(spec.read_text().replace(BASE, engine.base))
    done = smspec("build", "-o", "tree", cwd=directory)
    assert done.status == 0, done.err
    engine.build(directory / "tree", "similarity")
    engine.docker("network", "create", "--driver=bridge", "--internal", "similarity")
    return json.loads((directory / "tree/create-training-job.json").read_text())["HyperParameters"]


@pytest.fixture
def host(engine, hyperparameters, tmp_path):
    """Return a function that starts one host."""

    def started(name):
        base = tmp_path / name
        (base / "input/config").mkdir(parents=True)
        (base / "output").mkdir()
        (base / "model").mkdir()
        shutil.copytree(SPEC / "data", base / "input/data")
        for file, value in (
            ("resourceconfig", {"current_host": name, "hosts": list(HOSTS), "network_interface_name": "eth0"}),
            ("inputdataconfig", {"matrix": {"TrainingInputMode": "File"}}),
            ("hyperparameters", hyperparameters),
        ):
            (base / f"input/config/{file}.json").write_text(json.dumps(value))
        mounts = [f"--volume={base / part}:/opt/ml/{part}" for part in ("input", "output", "model")]
        engine.docker(
            *("run", "--detach", f"--name={name}", f"--hostname={name}", "--network=similarity"),
            *(f"--network-alias={name}", *mounts, "similarity", "train"),
        )

    yield started
    engine.docker("rm", "--force", "--volumes", *HOSTS, check=False)


def ended(engine, name):
    return int(engine.docker("wait", name, timeout=60).stdout), engine.docker("logs", name)


# The sample has each host once as the first, as the second, and as the last.
@pytest.mark.parametrize(
    "order",
    [
        pytest.param(order, marks=() if order in HOSTS_IN_TURN else only_with_all_engines, id="-".join(order))
        for order in itertools.permutations(HOSTS)
    ],
)
@pytest.mark.parametrize("is_early", [False, True], ids=["together", "one-ends-first"])
def test_hosts_start_in_any_order(engine, host, tmp_path, order, is_early):
    """In any order, and when one has ended, and lost its name, before the others start."""
    first, *others = order
    host(first)
    if is_early:
        assert ended(engine, first)[0] == 0
        engine.docker("rm", first)
    for name in others:
        host(name)
    for name in others if is_early else order:
        status, log = ended(engine, name)
        assert status == 0, log
        assert "waiting for" not in log.stdout + log.stderr
    rows = [line for name in HOSTS for line in (tmp_path / name / f"model/part-{name}.csv").read_text().splitlines()]
    assert len(rows) == len({row.partition(",")[0] for row in rows}) > 0
