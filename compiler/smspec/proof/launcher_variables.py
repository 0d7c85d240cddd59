"""The environment variables that a launcher sets for the first of its processes."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.service.facts.instances import instance
from smspec.spec.model import Distribution, Mpi, SmDataParallel, Torchrun

_ADDRESS = "127.0.0.1"
_USUAL_PORT = "29500"
_OF_TORCH = {"NCCL_IB_DISABLE": "1", "NCCL_DEBUG": "WARN"}


def launcher_variables(
    distribution: Distribution | None, hosts: int, instance_type: str, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of rank 0 on the first host, next to those that the script gets anyway."""
    processes = _processes(distribution, instance_type)
    if isinstance(distribution, Torchrun):
        found = _of_torchrun(processes, hosts, distribution.port)
    elif isinstance(distribution, Mpi | SmDataParallel):
        found = _of_mpirun(processes, hosts)
    else:
        return {}
    if isinstance(distribution, Torchrun) and processes > 1:
        found["OMP_NUM_THREADS"] = "1"
    kept = ("OMP_NUM_THREADS", *_OF_TORCH)
    return {name: environment.get(name, value) if name in kept else value for name, value in found.items()}


def _processes(distribution: Distribution | None, instance_type: str) -> int:
    """Return how many processes a host has: by default one per GPU or Neuron core, or one."""
    wanted = getattr(distribution, "processes_per_host", "auto")
    if isinstance(wanted, int):
        return wanted
    known = instance(instance_type)
    return 1 if known is None else known.gpus or known.neuron_cores or 1


def _of_torchrun(processes: int, hosts: int, port: int) -> dict[str, str]:
    """Return what torchrun sets: a script must see all of it, because libraries ask for one or the other."""
    ranks = dict.fromkeys(("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK"), "0")
    world = str(hosts * processes)
    sizes = {"WORLD_SIZE": world, "ROLE_WORLD_SIZE": world, "LOCAL_WORLD_SIZE": str(processes)}
    address = {"MASTER_ADDR": _ADDRESS, "MASTER_PORT": str(port)}
    if hosts == 1:  # the runtime leaves both to torchrun
        address = {"MASTER_ADDR": "localhost", "MASTER_PORT": _USUAL_PORT}
    elastic = {"RUN_ID": "none", "RESTART_COUNT": "0", "MAX_RESTARTS": "0", "USE_AGENT_STORE": "True"}
    elastic |= {"ERROR_FILE": "/tmp/torchelastic/error.json", "SIGNALS_TO_HANDLE": "SIGTERM,SIGINT,SIGHUP,SIGQUIT"}
    return {
        **ranks,
        **sizes,
        "GROUP_WORLD_SIZE": str(hosts),
        "ROLE_NAME": "default",
        **address,
        **{f"TORCHELASTIC_{name}": value for name, value in elastic.items()},
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
        "NCCL_PROTO": "simple",
        **_OF_TORCH,
    }


def _of_mpirun(processes: int, hosts: int) -> dict[str, str]:
    """Return what mpirun of Open MPI sets, except by what a process finds its server: there is none."""
    world = str(hosts * processes)
    ranks = dict.fromkeys(("RANK", "LOCAL_RANK", "NODE_RANK"), "0")
    found = {f"OMPI_COMM_WORLD_{name}": value for name, value in ranks.items()}
    found |= {"OMPI_COMM_WORLD_SIZE": world, "OMPI_COMM_WORLD_LOCAL_SIZE": str(processes)}
    found |= {"OMPI_UNIVERSE_SIZE": world, "OMPI_APP_CTX_NUM_PROCS": world}
    found |= {"OMPI_NUM_APP_CTX": "1", "OMPI_FIRST_RANKS": "0"}
    return {**found, "MASTER_ADDR": _ADDRESS, "MASTER_PORT": "7777", **_OF_TORCH, "NCCL_DEBUG": "INFO"}
