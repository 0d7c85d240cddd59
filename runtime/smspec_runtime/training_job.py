"""The job for the author's script."""

import os

from .channel import Channel
from .cluster import Cluster
from .hyperparameters import Hyperparameters
from .input_config import InputConfig, read_input_config
from .layout import ROOT, Layout
from .lean_typing import Dict, Environ, Json, List, NamedTuple, Sequence, TypeVar
from .run_plan import RunSettings
from .stopping import STOP_REQUEST

Item = TypeVar("Item")


class Job(NamedTuple):
    """``settings``: those of the job spec beyond the API."""

    hyperparameters: Json
    channels: Dict[str, Channel]
    cluster: Cluster
    settings: RunSettings
    layout: Layout
    checkpoint_dir: str
    is_local: bool = False
    name: str = ""

    def __repr__(self) -> str:
        from .masking import MASK, is_secret, masked_command, secret_values

        own = self.hyperparameters
        shown = str({name: MASK if is_secret(name) else value for name, value in own.items()})
        shown = masked_command([shown], secret_values(own))  # Also within values.
        return f"<job on {self.host} of {len(self.hosts)} hosts, channels {[*self.channels]}, hyperparameters {shown}>"

    @property
    def hosts(self) -> List[str]:
        return self.cluster.hosts

    @property
    def host(self) -> str:
        return self.cluster.current_host

    @property
    def host_rank(self) -> int:
        """This host's place, from 0."""
        return self.hosts.index(self.host)

    @property
    def is_leader(self) -> bool:
        return self.host_rank == 0

    @property
    def model_dir(self) -> str:
        """Becomes ``model.tar.gz``, one of all hosts."""
        return self.layout.model

    @property
    def output_dir(self) -> str:
        """Becomes ``output.tar.gz``."""
        return self.layout.output_data

    @property
    def stopping(self) -> bool:
        """Whether SIGTERM has come. Once asked in the main thread, it no longer ends the script."""
        return STOP_REQUEST.seen

    def channel(self, name: str) -> Channel:
        """Return a channel, or raise KeyError; outside SageMaker any name is a File channel."""
        if name in self.channels:
            return self.channels[name]
        if self.is_local:
            return Channel(name, self.layout.channel(name), "File", {}, self.settings)
        raise KeyError(f"no channel `{name}`; the job has {', '.join(sorted(self.channels)) or 'none'}")

    def rows(self, total: int) -> range:
        """This host's part of ``total`` rows, disjoint and complete."""
        rank, count = self.host_rank, len(self.hosts)
        return range(rank * total // count, (rank + 1) * total // count)

    def shard(self, sequence: Sequence[Item]) -> Sequence[Item]:
        """This host's `rows` of a sequence."""
        rows = self.rows(len(sequence))
        return sequence[rows.start : rows.stop]


def read_job(environ: Environ) -> Job:
    """Without SageMaker a job of one host in the current directory."""
    layout = Layout(environ.get("SAGEMAKER_BASE_DIR") or ROOT)
    is_local = not os.path.isdir(layout.input_config)
    if is_local:
        layout = Layout(os.getcwd())
        config = InputConfig(Cluster(["localhost"], "localhost"), {}, {}, Hyperparameters({}), RunSettings())
    else:
        config = read_input_config(layout)
    settings = config.settings
    checkpoints = settings.checkpoints or ROOT + "/checkpoints"
    if f"{checkpoints}/".startswith(ROOT + "/"):  # Relative to the root.
        checkpoints = os.path.join(layout.root, checkpoints[len(ROOT) + 1 :])
    channels = {
        name: Channel(name, layout.channel(name), str(channel.get("TrainingInputMode", "File")), channel, settings)
        for name, channel in config.channels.items()
    }
    name = "" if is_local else environ.get("TRAINING_JOB_NAME", "")
    return Job(config.hyperparameters.user, channels, config.cluster, settings, layout, checkpoints, is_local, name)
