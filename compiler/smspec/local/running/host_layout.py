"""Fill the directories of the hosts with what SageMaker and the image provide at job start, /opt/ml/input too."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from smspec.local.channels.channel_data import ChannelData, MountedChannel
from smspec.local.channels.channel_layout import ChannelLayout
from smspec.local.engines.engine import Engine
from smspec.local.running.events import Remark, Reporter
from smspec.local.running.run_directory import UPLOAD, RunDirectory
from smspec.local.running.training_request import Host, TrainingChannel, TrainingRequest
from smspec.source.real_file import copy_files, files_below

_SCREAMING = {
    "S3Prefix": "S3_PREFIX",
    "ManifestFile": "MANIFEST_FILE",
    "AugmentedManifestFile": "AUGMENTED_MANIFEST_FILE",
    "FullyReplicated": "FULLY_REPLICATED",
    "ShardedByS3Key": "SHARDED_BY_S3_KEY",
    "RecordIO": "RECORD_IO",
    "FastFile": "FAST_FILE",
}


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
    ) -> None:
        self._training = training
        self._hosts = hosts
        self._data = data
        self._engine = engine
        self._reporter = reporter
        self._checkpoints = checkpoints
        self._channels = ChannelLayout(hosts, reporter, mounts=engine.mounts_data)
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
        place = self._training.checkpoint_place
        if place:
            for host in self._hosts:
                target = os.path.join(directory.host(host.name).root, place)
                os.makedirs(target, exist_ok=True)
                if self._checkpoints is not None:
                    copy_files(files_below(self._checkpoints), target)
            restored = [host.name for host in self._hosts if directory.restore(host.name)]
            self.has_resumed = bool(restored) or self._checkpoints is not None
            if restored:
                whose = f"the checkpoints of the last run, which did not complete ({', '.join(restored)})"
                self._reporter.report(
                    Remark(text=f"resuming from {whose}; remove `{directory.root}` to start from scratch")
                )
        directory.forget_interrupted()


def config_files(
    request: TrainingRequest,
    hosts: Sequence[Host],
    current: Host,
    hyperparameters: Mapping[str, str],
    interface: str,
) -> dict[str, str]:
    """Return name → text of every file for one host."""
    channels = [channel for channel in request.channels if current in channel.hosts(tuple(hosts))]
    documents: dict[str, object] = {
        "hyperparameters.json": dict(hyperparameters),
        "inputdataconfig.json": {channel.name: _input_data(channel) for channel in channels},
        "resourceconfig.json": _resources(hosts, current, interface),
        "init-config.json": _init(request, channels, hosts, current),
        "trainingjobconfig.json": _with_count(request.payload, hosts),
        "metric-definition-regex.json": request.metric_definitions,
        "upstreamoutputdataconfig.json": [],
    }
    # awslabs/sagemaker-debugger and aws/sagemaker-xgboost-container read them. Without its member, there is no file.
    documents |= {f"{name.lower()}.json": config for name, config in request.directory_configs.items()}
    return {name: json.dumps(document) for name, document in documents.items()}


def _input_data(channel: TrainingChannel) -> dict[str, str]:
    config = {"ContentType": channel.content_type} if channel.content_type is not None else {}
    return {
        **config,
        "TrainingInputMode": channel.mode,
        "S3DistributionType": channel.distribution,
        "RecordWrapperType": channel.record_wrapper,
    }


def _resources(hosts: Sequence[Host], current: Host, interface: str) -> dict[str, object]:
    groups = dict.fromkeys((host.group, host.instance_type) for host in hosts)
    return {
        "current_host": current.name,
        "current_instance_type": current.instance_type,
        "current_group_name": current.group,
        "hosts": [host.name for host in hosts],
        "instance_groups": [
            {
                "instance_group_name": group,
                "instance_type": kind,
                "hosts": [host.name for host in hosts if host.group == group],
            }
            for group, kind in groups
        ],
        "network_interface_name": interface,
    }


def _init(
    request: TrainingRequest, channels: Sequence[TrainingChannel], hosts: Sequence[Host], current: Host
) -> dict[str, object]:
    return {
        "inputMode": request.input_mode.upper(),
        "channels": {channel.name: _init_channel(channel) for channel in channels},
        "checkpointChannel": None,
        "hostConfig": {"clusterSize": len(hosts), "hostNumber": current.rank + 1},
        "enableDataAgentDownloads": False,
        "jobRunInfo": None,
    }


def _init_channel(channel: TrainingChannel) -> dict[str, object]:
    s3 = {
        "s3DataType": _screaming(channel.s3_data_type),
        "s3Uri": channel.uri,
        "s3DataDistributionType": _screaming(channel.distribution),
        "attributeNames": list(channel.attributes) or None,
    }
    return {
        "s3DataSource": s3 if channel.uri is not None else None,
        "fileSystemDataSource": None,
        "compressionType": channel.compression.upper(),
        "recordWrapper": _screaming(channel.record_wrapper),
        "shuffleConfig": None if channel.shuffle_seed is None else {"seed": channel.shuffle_seed},
        "inputMode": _screaming(channel.mode),
        "sharded": channel.distribution == "ShardedByS3Key",
    }


def _screaming(literal: str) -> str:
    """Return an enum value in the upper-case form of init-config.json."""
    return _SCREAMING.get(literal, literal.upper())


def _with_count(payload: Mapping[str, object], hosts: Sequence[Host]) -> Mapping[str, object]:
    """Return the request with the number of hosts that run locally."""
    resources = payload.get("ResourceConfig")
    if not isinstance(resources, Mapping) or "InstanceCount" not in resources:
        return payload
    return {**payload, "ResourceConfig": {**resources, "InstanceCount": len(hosts)}}
