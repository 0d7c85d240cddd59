"""Fill the directories of the hosts with what SageMaker and the image provide at job start."""

from __future__ import annotations

import os

from smspec.local.channel_data import ChannelData
from smspec.local.channel_layout import ChannelLayout
from smspec.local.config_files import config_files
from smspec.local.engines.engine import Engine
from smspec.local.events import Remark, Reporter
from smspec.local.mounted_data import MountedChannel
from smspec.local.run_directory import UPLOAD, RunDirectory
from smspec.local.training_request import Host, TrainingRequest
from smspec.source.deep_directories import copy_files, files_below


class HostLayout:
    """Lays out one host after the other: code, configuration, channels, and the checkpoints of a previous run.

    ``checkpoints``: a directory that every host finds as its checkpoints, instead of those of a previous run.
    """

    def __init__(
        self,
        training: TrainingRequest,
        hosts: tuple[Host, ...],
        data: tuple[ChannelData, ...],
        engine: Engine,
        reporter: Reporter,
        checkpoints: str | None = None,
        *,
        watches_reads: bool = False,
    ) -> None:
        self._training = training
        self._hosts = hosts
        self._data = data
        self._engine = engine
        self._reporter = reporter
        self._checkpoints = checkpoints
        self._channels = ChannelLayout(hosts, reporter, mounts=engine.mounts_data, watches_reads=watches_reads)
        self.has_resumed = False

    def fill(self, directory: RunDirectory) -> None:
        """Create and fill the directory of every host."""
        copied = [data for data in self._data if not data.is_piped]
        self._channels.require_room(copied, directory.root)
        hyperparameters = self._engine.hyperparameters(directory.path(UPLOAD))
        for host in self._hosts:
            place = directory.host(host.name)
            place.make()
            self._engine.fill(place)
            texts = config_files(self._training, self._hosts, host, hyperparameters, self._engine.interface)
            for name, text in texts.items():
                with open(os.path.join(place.config, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for data in self._data:
                if not data.is_piped and data.reaches(host, self._hosts):
                    self._channels.lay(data, host, place.data)
        self._engine.mount(self.mounted)
        self._take_up_checkpoints(directory)

    @property
    def mounted(self) -> dict[tuple[str, str], MountedChannel]:
        """Return (host, channel) → the local files that hosts see themselves, not as copies."""
        return self._channels.mounted

    def _take_up_checkpoints(self, directory: RunDirectory) -> None:
        """Create the checkpoint directory of every host, with the checkpoints of an incomplete run."""
        wanted = self._training.checkpoint_directory
        if wanted is not None and wanted.startswith("/"):
            place = os.path.normpath(wanted).lstrip("/")
            for host in self._hosts:
                target = os.path.join(directory.host(host.name).root, place)
                os.makedirs(target, exist_ok=True)
                if self._checkpoints is not None:
                    copy_files(files_below(self._checkpoints), target)
            restored = [host.name for host in self._hosts if directory.restore(host.name, *place.split("/"))]
            self.has_resumed = bool(restored) or self._checkpoints is not None
            if restored:
                whose = f"the checkpoints of the last run, which did not complete ({', '.join(restored)})"
                self._reporter.report(
                    Remark(text=f"resuming from {whose}; remove `{directory.root}` to start from scratch")
                )
        directory.forget_interrupted()
