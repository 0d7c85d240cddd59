"""mpirun, and its access to other hosts."""

from argparse import ArgumentParser
from shlex import split

from ..command import Command, Companion
from ..lean_typing import List, Tuple
from ..peers.keys import DIRECTORY
from ..peers.ssh import SERVER
from ..refusal import Refused
from .efa_instances import EFA, RDMA
from .launch import Launch


def mpirun(
    launch: Launch, hosts: str, flags: str, placing: str = "", spawning: str = "", first: str = "", last: str = ""
) -> List[str]:
    """``first``, ``last``: of the variables."""
    interface = launch.cluster.network_interface
    options, debug = _options(launch)
    line = (
        f"mpirun --host {hosts} -np {_count(launch)} --allow-run-as-root {flags} "
        f"-mca btl_tcp_if_include {interface} -mca oob_tcp_if_include {interface} "
        f"-mca plm_rsh_no_tree_spawn 1 {placing} "
        "-mca pml ob1 -mca btl ^openib -mca orte_abort_on_non_zero_status 1 -mca btl_vader_single_copy_mechanism none "
        f"{spawning} {first} -x NCCL_SOCKET_IFNAME={interface} {debug} -x LD_LIBRARY_PATH -x PATH {last}"
    )
    return line.split() + options


def exported(*names: str) -> List[str]:
    return [word for name in names for word in ("-x", name)]


def adapter_words(instance_type: str, *first: str) -> List[str]:
    words = exported(*first, "NCCL_PROTO=simple") if instance_type in EFA else []
    return words + exported("FI_EFA_USE_DEVICE_RDMA=1") if instance_type in RDMA else words


def on_every_host(launch: Launch, words: List[str]) -> Command:
    """The leader's mpirun starts the program; the others admit it and wait."""
    kind, own, python_words = launch.program
    started = launch.words
    if kind not in ("executable", "command"):  # mpi4py ends all processes when one fails.
        started = [own[0], "-m", "mpi4py", *(python_words or own[1:]), *launch.arguments]
    several = len(launch.hosts) > 1
    # mpirun would prefix the line ends of unbuffered Python.
    variables = {**launch.torch_variables, "PYTHONUNBUFFERED": ""}
    command = Command(words + started, variables, [Companion(SERVER)] * several, over_ssh=several)
    return launch.in_team(command, keys=DIRECTORY)


def _count(launch: Launch) -> str:
    try:
        return str(int(launch.options.get("processes") or int(launch.processes_per_host) * len(launch.hosts)))
    except ValueError as error:
        raise Refused(f"number of processes: {error}") from error


def _options(launch: Launch) -> Tuple[List[str], str]:
    written = launch.options.get("options", [])
    try:
        options = split(written) if isinstance(written, str) else list(map(str, written))
    except ValueError as error:
        raise Refused(f"options of mpirun: {error}") from error
    parser = ArgumentParser(add_help=False)  # As in the toolkit.
    parser.add_argument("--NCCL_DEBUG", default="INFO")
    try:
        found, rest = parser.parse_known_args(options)
    except SystemExit:
        raise Refused("options of mpirun: --NCCL_DEBUG has no value") from None
    is_said = any(word.split("=")[0] == "NCCL_DEBUG" for word in rest)
    return rest, "" if is_said else "-x NCCL_DEBUG=" + found.NCCL_DEBUG
