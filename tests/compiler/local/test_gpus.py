"""GPUs of instances, of this machine, and of containers."""

import pytest

from smspec.local.engines import engine
from smspec.local.running.training_request import Host


def hosts(*kinds):
    return [Host(name=f"algo-{rank + 1}", rank=rank, group="", instance_type=kind) for rank, kind in enumerate(kinds)]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with as many GPUs as asked for."""
    monkeypatch.setattr(engine, "_NVIDIA_DEVICES", str(tmp_path / "nvidia[0-9]*"))

    def has(count):
        for name in ["nvidiactl", *(f"nvidia{number}" for number in range(count))]:
            (tmp_path / name).touch()

    return has


@pytest.mark.parametrize(
    ("here", "kinds", "said"),
    [
        (0, ["ml.m5.large"], []),
        (4, ["ml.m5.large"], []),
        (0, ["ml.g5.xlarge"], ["`ml.g5.xlarge` has 1 GPU, this machine has none"]),
        (1, ["ml.g5.xlarge"], []),
        (1, ["ml.p3.8xlarge"], ["`ml.p3.8xlarge` has 4 GPUs, this machine has 1 GPU"]),
        (
            1,
            ["ml.g5.xlarge", "ml.g5.xlarge"],
            ["`ml.g5.xlarge` has 1 GPU, this machine has 1 GPU, which all hosts share"],
        ),
        (0, ["ml.m5.large", "ml.g5.xlarge"], ["`ml.g5.xlarge` has 1 GPU, this machine has none"]),
        (0, ["ml.p99.large"], []),
    ],
)
def test_difference_from_the_gpus_of_the_instances(here, kinds, said, machine):
    machine(here)
    assert engine.gpu_differences(hosts(*kinds)) == said


@pytest.mark.parametrize(
    ("program", "kind", "here", "words"),
    [
        ("docker", "ml.g5.xlarge", 1, ["--gpus=all"]),
        ("podman", "ml.g5.xlarge", 1, ["--device=nvidia.com/gpu=all"]),
        ("docker", "ml.g5.xlarge", 0, []),
        ("docker", "ml.m5.large", 1, []),
    ],
)
def test_container_gets_the_gpus_of_the_machine(program, kind, here, words, machine):
    machine(here)
    assert engine.gpu_words(program, hosts(kind)[0]) == words
