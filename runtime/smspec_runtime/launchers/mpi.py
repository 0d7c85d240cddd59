"""MPI: mpirun on the leader starts the processes of every host, on the others through ssh."""

from shlex import quote, split

from ..command import Command, Companion
from ..lean_typing import List, Tuple
from ..refusal import Refused
from ..team.ssh import SERVER
from .fabric import EFA, RDMA
from .launch import Launch

_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def mpi(launch: Launch) -> Command:
    """Return the command of this host: mpirun on the leader; the others let it in and wait for its end."""
    if len(launch.hosts) == 1:
        return Command(_mpirun(launch))
    if launch.is_leader:
        return Command(_mpirun(launch), {}, [Companion(SERVER)], launch.hosts[1:], over_ssh=True)
    return Command(launch.waiting_words, {}, [Companion(SERVER)], over_ssh=True)


def _mpirun(launch: Launch) -> List[str]:
    interface = launch.cluster.network_interface
    instance_type = launch.cluster.instance_type
    options, debug = _options(launch)
    hosts, count = _processes(launch)
    words = [
        *("mpirun", "--host", hosts, "-np", count, "--allow-run-as-root", "--display-map", "--tag-output"),
        *("-mca", "btl_tcp_if_include", interface, "-mca", "oob_tcp_if_include", interface),
        *("-mca", "plm_rsh_no_tree_spawn", "1", "-bind-to", "none", "-map-by", "slot"),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"),
        *("-mca", "btl_vader_single_copy_mechanism", "none"),
        *_exported("NCCL_MIN_NRINGS=4", "NCCL_SOCKET_IFNAME=" + interface, *debug, "LD_LIBRARY_PATH", "PATH"),
        *options,
    ]
    if instance_type in EFA:
        words += _exported("FI_PROVIDER=efa", "NCCL_PROTO=simple")
    if instance_type in RDMA:
        words += _exported("FI_EFA_USE_DEVICE_RDMA=1")
    words += _exported(*(name for name in _CREDENTIALS if name in launch.environ), *launch.variables, "PYTHONPATH")
    return [*words, *_program(launch)]


def _exported(*names: str) -> List[str]:
    return [word for name in names for word in ("-x", name)]


def _processes(launch: Launch) -> Tuple[str, str]:
    """Return every host with its number of processes, unless that is one, and how many there are on all of them."""
    each = launch.processes_per_host
    try:
        count = int(launch.options.get("processes") or int(each) * len(launch.hosts))
    except ValueError as error:
        raise Refused(f"number of processes: {error}") from error
    hosts = [host if str(each) == "1" else f"{host}:{each}" for host in launch.hosts]
    return ",".join(hosts), str(count)


def _options(launch: Launch) -> Tuple[List[str], List[str]]:
    """Return the job's own options for mpirun, and what NCCL is to log unless one of them says that too."""
    written = launch.options.get("options", [])
    try:
        options = split(written) if isinstance(written, str) else list(map(str, written))
    except ValueError as error:
        raise Refused(f"the options of mpirun, `{written}`: {error}") from error
    if "--NCCL_DEBUG" in options[:-1]:
        index = options.index("--NCCL_DEBUG")
        return options[:index] + options[index + 2 :], ["NCCL_DEBUG=" + options[index + 1]]
    is_said = any(word.partition("=")[0] == "NCCL_DEBUG" for word in options)
    return options, [] if is_said else ["NCCL_DEBUG=INFO"]


def _program(launch: Launch) -> List[str]:
    """Return the program as mpirun is given it: Python under mpi4py, which ends all processes when one fails."""
    program = launch.program
    if program.kind == "executable":
        # A script may lack its first line, `#!`; a shell runs it all the same.
        return ["/bin/sh", "-c", " ".join([program.words[0], *map(quote, launch.arguments)])]
    if program.kind == "command":
        return [*program.words, *launch.arguments]
    python, *rest = program.words
    return [python, "-m", "mpi4py", *(program.python_words or rest), *launch.arguments]
