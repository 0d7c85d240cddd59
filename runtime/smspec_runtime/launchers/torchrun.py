"""PyTorch's own launcher: every host runs it, it starts the processes of its host."""

from ..command import Command
from ..refusal import Refused
from .fabric import fabric_variables
from .launch import Launch


def torchrun(launch: Launch) -> Command:
    """Return the command of this host."""
    if not launch.program.python_words:
        raise Refused("torchrun starts Python files and modules, not {}".format(" ".join(launch.program.words)))
    words = ["neuron_parallel_compile"] if launch.environ.get("RUN_NEURON_PARALLEL_COMPILE") == "1" else []
    words += ["torchrun", "--nnodes", str(len(launch.hosts)), "--nproc_per_node", str(launch.processes_per_host)]
    if len(launch.hosts) > 1:
        words += ["--master_addr", launch.leader_address, "--master_port", str(launch.port)]
        words += ["--node_rank", str(launch.node_rank)]
    variables = {
        **launch.torch_variables,
        **fabric_variables(launch.cluster.instance_type),
        "NCCL_PROTO": "simple",
    }
    return Command([*words, *launch.program.python_words, *launch.arguments], variables)
