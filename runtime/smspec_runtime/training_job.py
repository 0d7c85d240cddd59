"""The job as the author's script sees it. `smspec_runtime.job` gives it; nothing forces a script to ask."""

import os

from .channel import Channel
from .cluster import Cluster
from .hyperparameters import Hyperparameters
from .input_config import InputConfig, read_input_config
from .layout import ROOT, Layout
from .lean_typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, TypeVar
from .run_plan import RunSettings
from .stopping import StopRequest

Item = TypeVar("Item")
_STOP_REQUEST = StopRequest()


class Job(NamedTuple):
    """What SageMaker says about this host's part of the training job.

    ``hyperparameters``: name → typed value. ``channels``: name → `Channel`. ``settings``: what the job spec says
    beyond the API (epochs, views of the Pipe channels …). A directory exists if SageMaker fills or collects it.
    """

    hyperparameters: Dict[str, Any]
    channels: Dict[str, Channel]
    cluster: Cluster
    settings: RunSettings
    layout: Layout
    checkpoint_dir: str
    is_local: bool = False
    name: str = ""

    def __repr__(self) -> str:
        """Show the job in one line, its secrets masked."""
        from .masking import MASK, is_secret

        shown = {name: MASK if is_secret(name) else value for name, value in self.hyperparameters.items()}
        return f"<job on {self.host} of {len(self.hosts)} hosts, channels {[*self.channels]}, hyperparameters {shown}>"

    @property
    def hosts(self) -> List[str]:
        return self.cluster.hosts

    @property
    def host(self) -> str:
        """This host's name, `algo-1` for instance."""
        return self.cluster.current_host

    @property
    def host_rank(self) -> int:
        """This host's place among the hosts, from 0. Every host sees the same order."""
        return self.cluster.host_rank

    @property
    def is_leader(self) -> bool:
        return self.host_rank == 0

    @property
    def model_dir(self) -> str:
        """What lies here in the end becomes ``model.tar.gz``, all hosts' files in one archive."""
        return self.layout.model

    @property
    def output_dir(self) -> str:
        """What lies here in the end becomes ``output.tar.gz``."""
        return self.layout.output_data

    @property
    def input_dir(self) -> str:
        return self.layout.input

    @property
    def data_dir(self) -> str:
        """Holds the channels."""
        return self.layout.data

    @property
    def stopping(self) -> bool:
        """Whether SIGTERM has arrived: stop, save, return. SageMaker kills what still runs two minutes later.

        From the first time the main thread asks, SIGTERM no longer ends the script by itself.
        """
        return _STOP_REQUEST.seen

    def channel(self, name: str) -> Channel:
        """Return a channel by name. Outside SageMaker any name is a File channel below ``input/data``."""
        if name in self.channels:
            return self.channels[name]
        if self.is_local:
            return Channel(name, self.layout.channel(name), "File", {}, self.settings)
        raise KeyError(f"no channel `{name}`; the job has {', '.join(sorted(self.channels)) or 'none'}")

    def rows(self, total: int) -> range:
        """Return this host's slice of ``total`` rows; ranks of a host divide it further. All slices are disjoint and
        complete."""
        count = len(self.hosts)
        return range(self.host_rank * total // count, (self.host_rank + 1) * total // count)

    def shard(self, sequence: Sequence[Item]) -> Sequence[Item]:
        """Return this host's slice of a sequence, `rows` of its length."""
        rows = self.rows(len(sequence))
        return sequence[rows.start : rows.stop]


def read_job(environ: Mapping[str, str]) -> Job:
    """Read the job of the container that we are in, or make one up where there is no SageMaker.

    Outside, the current directory takes the place of /opt/ml: one host, no channels, no hyperparameters.
    """
    layout = Layout(environ.get("SAGEMAKER_BASE_DIR") or ROOT)
    if os.path.isdir(layout.input_config):
        job = _job(layout, read_input_config(layout), is_local=False)
        return job._replace(name=environ.get("TRAINING_JOB_NAME", ""))
    layout = Layout(os.getcwd())
    cluster = Cluster(hosts=["localhost"], current_host="localhost")
    return _job(layout, InputConfig(cluster, {}, {}, Hyperparameters(), RunSettings()), is_local=True)


def _job(layout: Layout, config: InputConfig, is_local: bool) -> Job:
    settings = config.settings
    channels = {
        name: Channel(name, layout.channel(name), str(channel.get("TrainingInputMode", "File")), channel, settings)
        for name, channel in config.channels.items()
    }
    return Job(
        hyperparameters=dict(config.hyperparameters.user),
        channels=channels,
        cluster=config.cluster,
        settings=settings,
        layout=layout,
        checkpoint_dir=_checkpoints(layout, settings.checkpoints),
        is_local=is_local,
    )


def _checkpoints(layout: Layout, local_path: Optional[str]) -> str:
    """Return where checkpoints lie: CheckpointConfig.LocalPath, moved along when the root is not /opt/ml."""
    if not local_path:
        return layout.checkpoints
    if local_path == ROOT or local_path.startswith(ROOT + "/"):
        return layout.root + local_path[len(ROOT) :]
    return local_path
