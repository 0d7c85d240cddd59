"""What a launcher is told: the program, and the facts about hosts and machine."""

from shlex import quote

from ..cluster import Cluster
from ..environment import Machine
from ..lean_typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Union
from ..program import Program
from ..team import PORT as TEAM_PORT

PORT = 7777


class Launch(NamedTuple):
    """``hosts``: those that the program is distributed over, the leader first. ``options``: of the job's settings.

    ``variables``: the names of the SM_ variables. ``python``: what the runtime itself runs on. ``local_ports``: where
    all hosts are this machine, one for the team and two for each host.
    """

    program: Program
    arguments: List[str]
    cluster: Cluster
    hosts: List[str]
    machine: Machine
    options: Dict[str, Any]
    environ: Mapping[str, str]
    leader_address: str
    variables: Sequence[str] = ()
    python: str = "python3"
    leader_ip: str = "127.0.0.1"
    local_ports: Sequence[str] = ()

    @property
    def processes_per_host(self) -> Union[int, str]:
        """Return how many processes each host runs: as the job says, else one per GPU, per Neuron core, or one."""
        wanted = self.options.get("processes_per_host", "auto")
        if wanted not in ("auto", "", None):
            return wanted  # type: ignore[no-any-return]  # int of the settings, or what a hyperparameter says
        return self.machine.gpus or self.machine.neurons or 1

    @property
    def port(self) -> int:
        return int(self.options.get("port", PORT))

    @property
    def team_port(self) -> int:
        return int(self.local_ports[0]) if self.local_ports else TEAM_PORT

    @property
    def node_rank(self) -> int:
        return self.hosts.index(self.cluster.current_host)

    @property
    def is_leader(self) -> bool:
        return self.node_rank == 0

    @property
    def words(self) -> List[str]:
        """Return what starts the program, whoever does it: a shell runs a script without its first line, `#!`."""
        words = self.program.words
        if self.program.kind == "executable":
            return ["/bin/sh", "-c", " ".join([words[0], *map(quote, self.arguments)])]
        return [*words, *self.arguments]

    @property
    def waiting_words(self) -> List[str]:
        """Return what waits on a host that is not the leader until the job has ended on the leader."""
        leader = f"{self.leader_address}:{self.team_port}"
        return [self.python, "-m", "smspec_runtime.team.member", leader, self.cluster.current_host]

    @property
    def torch_variables(self) -> Dict[str, str]:
        """Return what programs find in SageMaker's PyTorch containers."""
        return {
            "MASTER_ADDR": self.leader_address,
            "MASTER_PORT": str(self.port),
            "NCCL_SOCKET_IFNAME": self.cluster.network_interface,
            "NCCL_IB_DISABLE": self.environ.get("NCCL_IB_DISABLE", "1"),
            "NCCL_DEBUG": self.environ.get("NCCL_DEBUG", "WARN"),
        }

    def endpoints(self, hosts: Sequence[str], port: int, which: int = 0) -> List[str]:
        """Return where a port of hosts is reached. ``which`` of its two ports a host has where all are this machine."""
        if not self.local_ports:
            return [f"{host}:{port}" for host in hosts]
        ports = (self.local_ports[1 + 2 * self.hosts.index(host) + which] for host in hosts)
        return [f"{self.leader_address}:{port}" for port in ports]
