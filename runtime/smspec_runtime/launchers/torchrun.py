"""PyTorch's own launcher, run by every host."""

from ..command import Command
from ..masking import masked_command
from ..refusal import Refused
from .efa_instances import EFA, RDMA
from .launch import Launch


def torchrun(launch: Launch) -> Command:
    program = launch.program
    if not program.python_words:
        raise Refused(f"torchrun starts Python files and modules, not {masked_command(program.words, [])}")
    words = ["neuron_parallel_compile"] if launch.environ.get("RUN_NEURON_PARALLEL_COMPILE") == "1" else []
    words += ["torchrun", "--nnodes", str(len(launch.hosts)), "--nproc_per_node", launch.processes_per_host]
    variables = {**launch.torch_variables, "NCCL_PROTO": "simple"}
    if len(launch.hosts) > 1:
        words += ["--master_addr", launch.leader_address, "--master_port", variables["MASTER_PORT"]]
        words += ["--node_rank", str(launch.node_rank)]
    if launch.cluster.instance_type in EFA:
        variables["FI_PROVIDER"] = "efa"
    if launch.cluster.instance_type in RDMA:
        variables.update(FI_EFA_USE_DEVICE_RDMA="1", RDMAV_FORK_SAFE="1")
    return Command([*words, *program.python_words, *launch.arguments], variables)
