"""The content of the files in /opt/ml/input/config of a training container."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from smspec.local.training_request import Host, RequestedChannel, TrainingRequest


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
    return {name: json.dumps(document) for name, document in documents.items()}


def _input_data(channel: RequestedChannel) -> dict[str, str]:
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
    request: TrainingRequest, channels: Sequence[RequestedChannel], hosts: Sequence[Host], current: Host
) -> dict[str, object]:
    return {
        "inputMode": request.input_mode.upper(),
        "channels": {channel.name: _init_channel(channel) for channel in channels},
        "checkpointChannel": None,
        "hostConfig": {"clusterSize": len(hosts), "hostNumber": current.rank + 1},
        "enableDataAgentDownloads": False,
        "jobRunInfo": None,
    }


def _init_channel(channel: RequestedChannel) -> dict[str, object]:
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


_SCREAMING = {
    "S3Prefix": "S3_PREFIX",
    "ManifestFile": "MANIFEST_FILE",
    "AugmentedManifestFile": "AUGMENTED_MANIFEST_FILE",
    "FullyReplicated": "FULLY_REPLICATED",
    "ShardedByS3Key": "SHARDED_BY_S3_KEY",
    "RecordIO": "RECORD_IO",
    "FastFile": "FAST_FILE",
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
