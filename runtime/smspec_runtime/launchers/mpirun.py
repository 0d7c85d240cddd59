"""What the command lines of mpirun have in common, and what the hosts do that it does not run on."""

from shlex import split

from ..command import Command, Companion
from ..lean_typing import List, Sequence, Tuple
from ..refusal import Refused
from ..team.ssh import SERVER
from .fabric import EFA, RDMA
from .launch import Launch


def mpirun(
    launch: Launch,
    hosts: List[str],
    *,
    flags: Sequence[str],
    placing: Sequence[str] = (),
    spawning: Sequence[str] = (),
    first: Sequence[str] = (),
    last: Sequence[str] = (),
) -> List[str]:
    """Return the fixed part of the line, which ends with the job's options. ``first``, ``last``: of the variables."""
    interface = launch.cluster.network_interface
    options, debug = _options(launch)
    return [
        *("mpirun", "--host", ",".join(hosts), "-np", _count(launch), "--allow-run-as-root", *flags),
        *("-mca", "btl_tcp_if_include", interface, "-mca", "oob_tcp_if_include", interface),
        *("-mca", "plm_rsh_no_tree_spawn", "1", *placing),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"),
        *("-mca", "btl_vader_single_copy_mechanism", "none", *spawning),
        *exported(*first, "NCCL_SOCKET_IFNAME=" + interface, *debug, "LD_LIBRARY_PATH", "PATH", *last),
        *options,
    ]


def exported(*names: str) -> List[str]:
    """Return the words that hand variables on to the processes."""
    return [word for name in names for word in ("-x", name)]


def adapter_words(instance_type: str, *first: str) -> List[str]:
    """Return what NCCL and libfabric must be told about the adapter of an instance type, if it has one."""
    words = exported(*first, "NCCL_PROTO=simple") if instance_type in EFA else []
    return words + exported("FI_EFA_USE_DEVICE_RDMA=1") if instance_type in RDMA else words


def on_every_host(launch: Launch, words: List[str]) -> Command:
    """Return the command of this host: on the leader mpirun with the program; the others let it in and wait.

    Python runs under mpi4py, which ends all processes when one fails.
    """
    companions = [Companion(SERVER)] if len(launch.hosts) > 1 else []
    if not launch.is_leader:
        return Command(launch.waiting_words, launch.torch_variables, companions, over_ssh=True)
    program = launch.program
    python, *rest = program.words
    started = [python, "-m", "mpi4py", *(program.python_words or rest), *launch.arguments]
    words = [*words, *(launch.words if program.kind in ("executable", "command") else started)]
    return Command(words, launch.torch_variables, companions, launch.hosts[1:], bool(companions), launch.team_port)


def _count(launch: Launch) -> str:
    try:
        return str(int(launch.options.get("processes") or int(launch.processes_per_host) * len(launch.hosts)))
    except ValueError as error:
        raise Refused(f"number of processes: {error}") from error


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
