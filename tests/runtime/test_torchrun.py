"""Command lines of torchrun."""

import json
import re
from importlib import resources

import pytest

from smspec_runtime.cluster import Cluster
from smspec_runtime.environment import Machine
from smspec_runtime.launchers import Launch, launcher
from smspec_runtime.launchers.efa_instances import EFA, RDMA
from smspec_runtime.program import Program
from smspec_runtime.refusal import Refused

PYTHON = Program("python", ["python", "--", "train.py"], ["train.py"])
TORCH = {
    "MASTER_ADDR": "algo-1",
    "MASTER_PORT": "7777",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_IB_DISABLE": "1",
    "NCCL_DEBUG": "WARN",
}
torchrun = launcher("torchrun")


def launch(hosts=("algo-1",), host="algo-1", program=PYTHON, gpus=0, neurons=0, kind="local", environ=None, **options):
    cluster = Cluster(hosts=list(hosts), current_host=host, instance_type=kind)
    machine = Machine(cpus=4, gpus=gpus, neurons=neurons)
    return Launch(program, ["--lr", "0.1"], cluster, list(hosts), machine, options, environ or {}, hosts[0])


def test_one_host_has_its_command():
    command = torchrun(launch(gpus=8))
    assert command.words == ["torchrun", "--nnodes", "1", "--nproc_per_node", "8", "train.py", "--lr", "0.1"]
    assert command.variables == {**TORCH, "NCCL_PROTO": "simple"}


def test_several_hosts_meet_at_the_first():
    words = torchrun(launch(["algo-1", "algo-2"], "algo-2")).words
    assert words == [
        *("torchrun", "--nnodes", "2", "--nproc_per_node", "1"),
        *("--master_addr", "algo-1", "--master_port", "7777", "--node_rank", "1"),
        *("train.py", "--lr", "0.1"),
    ]


@pytest.mark.parametrize(
    ("gpus", "neurons", "wanted", "processes"),
    [(0, 0, "auto", 1), (4, 2, "auto", 4), (0, 2, "auto", 2), (4, 0, 3, 3), (4, 0, "2", "2")],
)
def test_processes_per_host_are_set(gpus, neurons, wanted, processes):
    command = torchrun(launch(gpus=gpus, neurons=neurons, processes_per_host=wanted))
    assert command.words[4] == str(processes)


def test_port_of_the_job_is_used():
    assert "29500" in torchrun(launch(["a", "b"], "a", port=29500)).words


def test_neuron_compiles_first_on_request():
    assert torchrun(launch(environ={"RUN_NEURON_PARALLEL_COMPILE": "1"})).words[:2] == [
        "neuron_parallel_compile",
        "torchrun",
    ]


def test_module_is_started_with_dash_m():
    program = Program(
        "module", ["python", "-m", "smspec_runtime.module", "a:b"], ["-m", "smspec_runtime.module", "a:b"]
    )
    assert torchrun(launch(program=program)).words[5:8] == ["-m", "smspec_runtime.module", "a:b"]


@pytest.mark.parametrize("kind", ["executable", "package", "command"])
def test_torchrun_rejects_non_python_programs(kind):
    with pytest.raises(Refused, match=r"torchrun starts Python files and modules, not \./run\.sh"):
        torchrun(launch(program=Program(kind, ["./run.sh"])))


@pytest.mark.parametrize(
    ("kind", "variables"),
    [
        ("ml.m5.large", {}),
        ("ml.g5.48xlarge", {"FI_PROVIDER": "efa"}),
        ("ml.p5en.48xlarge", {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "RDMAV_FORK_SAFE": "1"}),
    ],
)
def test_efa_types_get_their_variables(kind, variables):
    assert torchrun(launch(kind=kind)).variables == {**TORCH, "NCCL_PROTO": "simple", **variables}
    assert set(RDMA) < set(EFA)


def test_efa_types_equal_those_that_train():
    """The API's own list; of each family in it that has an adapter, no size of eight xlarge and more is missing."""
    shapes = json.loads(resources.files("smspec_schemas").joinpath("create_training_job.json").read_text())
    text = json.dumps(shapes)
    assert [kind for kind in EFA if f'"{kind}"' not in text] == []
    families = {kind.split(".")[1] for kind in EFA} - {"p5"}
    large = set(re.findall(rf'"(ml\.(?:{"|".join(sorted(families))})\.(?:8|1[26]|24|32|36|48)xlarge)"', text))
    assert large == set(EFA) - {"ml.p5.4xlarge", "ml.p5.48xlarge"}
