"""The input of a launcher."""

from shlex import quote

from ..cluster import MASTER_PORT, Cluster
from ..command import Command
from ..environment import Machine
from ..lean_typing import Any, Dict, List, Mapping, NamedTuple, Sequence
from ..program import Program

# Next to the ports of frameworks: 2222 and 2223, 7592, 7777, 8000, 8890.
_TEAM_PORT = 7781


class Launch(NamedTuple):
    """``hosts``: the launcher's, the leader first. ``python``: the runtime's. ``local_ports``: on one
    machine, one for the team and two for each host."""

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
        """By default one per GPU or Neuron core, or one."""
        wanted = self.options.get("processes_per_host")
        if wanted in ("auto", "", None):
            wanted = self.machine.gpus or self.machine.neurons or 1
        return str(wanted)

    @property
    def node_rank(self) -> int:
        return self.hosts.index(self.cluster.current_host)

    @property
    def words(self) -> List[str]:
        """A shell runs a script even without `#!`."""
        if self.program.kind == "executable":
            line = " ".join([*self.program.words, *map(quote, self.arguments)])
            if len(line) < 30_000:  # Linux limits a word to 128 KiB.
                return ["/bin/sh", "-c", line]
            return ["/bin/sh", "-c", '"$0" "$@"', *self.program.words, *self.arguments]
        return self.program.words + self.arguments

    @property
    def torch_variables(self) -> Dict[str, str]:
        port = str(self.options.get("port", MASTER_PORT))
        return self.cluster.torch_variables(self.leader_address, port, self.environ)

    def endpoints(self, port: int, which: int = 0) -> List[str]:
        """Each host with a port, or ``which`` of its two local ones."""
        if not self.local_ports:
            return [f"{host}:{port}" for host in self.hosts]
        return [f"{self.leader_address}:{own}" for own, _ in zip(self.local_ports[1 + which :: 2], self.hosts)]

    def in_team(self, command: Command, part: Sequence[str] = ()) -> Command:
        """A member runs its ``part``, then waits for the leader's end."""
        port = int(self.local_ports[0]) if self.local_ports else _TEAM_PORT
        if not self.node_rank:
            return command._replace(members=self.hosts[1:], port=port)
        member = [self.python, "-m", "smspec_runtime.peers.member", f"{self.leader_address}:{port}"]
        from ..peers.keys import DIRECTORY  # torchrun has none.

        keys = DIRECTORY if command.over_ssh else "-"
        return command._replace(words=[*member, self.cluster.current_host, keys, *part])
