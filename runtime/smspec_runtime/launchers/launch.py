"""What a launcher is told: the program, and the facts about hosts and machine."""

from shlex import quote

from ..cluster import Cluster
from ..command import Command, Companion
from ..environment import Machine
from ..lean_typing import Any, Dict, List, Mapping, NamedTuple, Sequence
from ..program import Program

# Beside those that frameworks take: 2222 and 2223, 7592, 7777, 8000, 8890.
_TEAM_PORT = 7781


class Launch(NamedTuple):
    """``hosts``: those that the program is distributed over, the leader first. ``python``: what the runtime runs on.

    ``local_ports``: where all hosts are this machine, one for the team and two for each host.
    """

    program: Program
    arguments: List[str]
    cluster: Cluster
    hosts: List[str]
    machine: Machine
    options: Dict[str, Any]
    environ: Mapping[str, str]
    leader_address: str
    python: str = "python3"
    leader_ip: str = "127.0.0.1"
    local_ports: Sequence[str] = ()

    @property
    def processes_per_host(self) -> str:
        """Return what the job says, else one per GPU, per Neuron core, or one."""
        wanted = self.options.get("processes_per_host")
        if wanted in ("auto", "", None):
            wanted = self.machine.gpus or self.machine.neurons or 1
        return str(wanted)

    @property
    def port(self) -> str:
        return str(self.options.get("port", 7777))

    @property
    def node_rank(self) -> int:
        return self.hosts.index(self.cluster.current_host)

    @property
    def is_leader(self) -> bool:
        return self.node_rank == 0

    @property
    def words(self) -> List[str]:
        """Return what starts the program, whoever does it: a shell runs a script without its first line, `#!`."""
        if self.program.kind == "executable":
            return ["/bin/sh", "-c", " ".join([*self.program.words, *map(quote, self.arguments)])]
        return self.program.words + self.arguments

    @property
    def torch_variables(self) -> Dict[str, str]:
        """Return the variables of SageMaker's PyTorch containers."""
        return {
            "MASTER_ADDR": self.leader_address,
            "MASTER_PORT": self.port,
            "NCCL_SOCKET_IFNAME": self.cluster.network_interface,
            "NCCL_IB_DISABLE": self.environ.get("NCCL_IB_DISABLE", "1"),
            "NCCL_DEBUG": self.environ.get("NCCL_DEBUG", "WARN"),
        }

    def endpoints(self, port: int, which: int = 0) -> List[str]:
        """Return where the hosts are reached: on a port, or on ``which`` of the two that each has of this machine."""
        if not self.local_ports:
            return [f"{host}:{port}" for host in self.hosts]
        return [f"{self.leader_address}:{own}" for own, _ in zip(self.local_ports[1 + which :: 2], self.hosts)]

    def in_team(
        self, words: List[str], part: List[str], variables: Dict[str, str], companions: List[Companion], over_ssh: bool
    ) -> Command:
        """Return what the leader runs while the members, which may have a ``part`` of their own, wait for its end."""
        port = int(self.local_ports[0]) if self.local_ports else _TEAM_PORT
        if self.is_leader:
            return Command(words, variables, companions, self.hosts[1:], over_ssh, port)
        member = [self.python, "-m", "smspec_runtime.team.member", f"{self.leader_address}:{port}"]
        return Command([*member, self.cluster.current_host, *part], variables, companions, over_ssh=over_ssh)
