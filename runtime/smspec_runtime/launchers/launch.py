"""What a launcher is told: the program, and the facts about hosts and machine."""

from ..cluster import Cluster
from ..environment import Machine
from ..lean_typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Union
from ..program import Program

PORT = 7777


class Launch(NamedTuple):
    """``hosts``: those that the program is distributed over, the leader first. ``options``: of the job's settings.

    ``variables``: the names of the SM_ variables. ``python``: what the runtime itself runs on.
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
    def is_leader(self) -> bool:
        return self.node_rank == 0

    @property
    def waiting_words(self) -> List[str]:
        """Return what waits on a host that is not the leader until the job has ended on the leader."""
        return [self.python, "-m", "smspec_runtime.team.member", self.leader_address, self.cluster.current_host]

    @property
    def node_rank(self) -> int:
        return self.hosts.index(self.cluster.current_host)
