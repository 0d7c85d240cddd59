"""Words of other tools, and what they are called here. Read only where a spec has a key that we do not know."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """``tool`` says the word; here it is one of ``keys``: the one that fits where it was written, else the first."""

    tool: str
    keys: tuple[str, ...]


_API = "the SageMaker API"
_SDK = "the SageMaker Python SDK"
_SKYPILOT = "SkyPilot"
_AZURE = "Azure ML"
_KUBERNETES = "Kubernetes"

_WORDS: dict[str, dict[str, str]] = {
    _API: {
        "TrainingJobName": "job_name",
        "AlgorithmSpecification": "image",
        "TrainingImage": "image",
        "AlgorithmName": "api",
        "TrainingInputMode": "input_mode",
        "MetricDefinitions": "metrics",
        "ContainerEntrypoint": "entry_point.command",
        "ContainerArguments": "entry_point.args",
        "TrainingImageConfig": "api",
        "RoleArn": "role",
        "InputDataConfig": "channels",
        "ChannelName": "channels",
        "DataSource": "channels.*.s3",
        "S3DataSource": "channels.*.s3",
        "S3Uri": "channels.*.s3 output.s3 checkpoints.s3",
        "S3DataDistributionType": "channels.*.distribution",
        "AttributeNames": "channels.*.attributes",
        "InstanceGroupNames": "channels.*.instance_groups",
        "FileSystemDataSource": "channels.*.file_system",
        "FileSystemId": "channels.*.file_system.id",
        "FileSystemType": "channels.*.file_system.type",
        "FileSystemAccessMode": "channels.*.file_system.access",
        "DirectoryPath": "channels.*.file_system.path",
        "CompressionType": "channels.*.compression output.compression",
        "RecordWrapperType": "channels.*.record_wrapper",
        "ShuffleConfig": "channels.*.shuffle_seed",
        "Seed": "channels.*.shuffle_seed",
        "OutputDataConfig": "output",
        "S3OutputPath": "output output.s3 tensorboard",
        "KmsKeyId": "output.kms_key",
        "ResourceConfig": "hosts",
        "InstanceCount": "hosts.count hosts.groups.*.count",
        "InstanceType": "hosts.instance_type hosts.groups.*.instance_type",
        "VolumeSizeInGB": "hosts.volume",
        "VolumeKmsKeyId": "hosts.volume_kms_key",
        "KeepAlivePeriodInSeconds": "hosts.keep_alive",
        "InstanceGroups": "hosts.groups",
        "InstanceGroupName": "hosts.groups.*.name",
        "TrainingPlanArn": "hosts.training_plan",
        "InstancePlacementConfig": "api",
        "InstancePreferences": "api",
        "VpcConfig": "network",
        "SecurityGroupIds": "network.security_groups",
        "EnableNetworkIsolation": "network.isolation",
        "EnableInterContainerTrafficEncryption": "network.encrypt_inter_container",
        "StoppingCondition": "stopping",
        "MaxRuntimeInSeconds": "stopping.max_runtime",
        "MaxPendingTimeInSeconds": "stopping.max_pending",
        "MaxWaitTimeInSeconds": "spot.max_wait",
        "EnableManagedSpotTraining": "spot",
        "CheckpointConfig": "checkpoints",
        "LocalPath": "checkpoints.local",
        "TensorBoardOutputConfig": "tensorboard",
        "RetryStrategy": "retries",
        "MaximumRetryAttempts": "retries",
        "Regex": "metrics.*.regex",
        "DebugHookConfig": "api",
        "DebugRuleConfigurations": "api",
        "ProfilerConfig": "api",
        "ProfilerRuleConfigurations": "api",
        "ExperimentConfig": "api",
        "RemoteDebugConfig": "api",
        "InfraCheckConfig": "api",
        "SessionChainingConfig": "api",
        "ServerlessJobConfig": "api",
        "MlflowConfig": "api",
        "ModelPackageConfig": "api",
        "ModelAccessConfig": "channels.*.api",
        "HubAccessConfig": "channels.*.api",
    },
    _SDK: {
        "image_uri": "image",
        "image_name": "image",
        "base_job_name": "name",
        "source_dir": "source",
        "source_code": "source",
        "entry_script": "entry_point.script",
        "dependencies": "source",
        "ignore_patterns": "source.ignore",
        "code_location": "source.s3",
        "container_entry_point": "entry_point.command",
        "requirements": "image.python_requirements",
        "framework_version": "image.base",
        "py_version": "image.base",
        "train_instance_count": "hosts.count",
        "train_instance_type": "hosts.instance_type",
        "volume_size": "hosts.volume",
        "train_volume_size": "hosts.volume",
        "compute": "hosts",
        "networking": "network",
        "security_group_ids": "network.security_groups",
        "encrypt_inter_container_traffic": "network.encrypt_inter_container",
        "enable_network_isolation": "network.isolation",
        "max_run": "stopping.max_runtime",
        "train_max_run": "stopping.max_runtime",
        "max_wait": "spot.max_wait",
        "use_spot_instances": "spot",
        "max_retry_attempts": "retries",
        "output_path": "output",
        "output_kms_key": "output.kms_key",
        "model_dir": "output",
        "disable_output_compression": "output.compression",
        "checkpoint_s3_uri": "checkpoints",
        "checkpoint_local_path": "checkpoints.local",
        "s3_data": "channels.*.s3",
        "attribute_names": "channels.*.attributes",
        "record_wrapping": "channels.*.record_wrapper",
        "data_source": "channels.*.s3",
        "torch_distributed": "distribution.torchrun",
        "pytorchddp": "distribution.torchrun",
        "smdistributed": "distribution.smdataparallel",
        "process_count_per_node": "distribution.torchrun.processes_per_host distribution.mpi.processes_per_host",
        "custom_mpi_options": "distribution.mpi.options",
        "debugger_hook_config": "api",
        "rules": "api",
        "environment_variables": "environment",
    },
    _SKYPILOT: {
        "resources": "hosts",
        "accelerators": "hosts.instance_type",
        "num_nodes": "hosts.count",
        "disk_size": "hosts.volume",
        "use_spot": "spot",
        "workdir": "source",
        "file_mounts": "channels",
        "setup": "image.run",
        "envs": "environment",
        "cloud": "region",
    },
    _AZURE: {
        "inputs": "channels",
        "outputs": "output",
        "code": "source",
        "command": "entry_point.command",
        "display_name": "description",
        "instance_count": "hosts.count",
        "limits": "stopping",
        "timeout": "stopping.max_runtime",
        "process_count_per_instance": "distribution.torchrun.processes_per_host distribution.mpi.processes_per_host",
        "mode": "channels.*.input_mode",
    },
    _KUBERNETES: {
        "apiVersion": "smspec",
        "kind": "smspec",
        "metadata": "name",
        "containers": "image",
        "env": "environment",
        "replicas": "hosts.count",
        "nodes": "hosts.count",
        "parallelism": "hosts.count",
        "backoffLimit": "retries",
        "activeDeadlineSeconds": "stopping.max_runtime",
        "serviceAccountName": "role",
        "annotations": "tags",
        "volumes": "channels",
    },
    "": {
        "data": "channels",
        "datasets": "channels",
        "sharding": "channels.*.distribution",
        "shard": "channels.*.distribution",
        "uri": "channels.*.s3 output.s3 checkpoints.s3",
        "url": "channels.*.s3",
        "shuffle": "channels.*.shuffle_seed",
        "gpus": "hosts.instance_type",
        "machine_type": "hosts.instance_type",
        "instances": "hosts.count",
        "hparams": "hyperparameters",
        "params": "hyperparameters",
        "parameters": "hyperparameters",
        "apt": "image.system_packages",
        "pip": "image.python_packages",
        "packages": "image.python_packages image.system_packages",
        "dockerfile": "image",
        "docker": "image",
        "from": "image.base",
        "launcher": "distribution",
        "program": "entry_point",
        "main": "entry_point",
        "cmd": "entry_point.command",
        "function": "entry_point.module",
        "handler": "entry_point.pipe_loop",
        "retry": "retries",
        "variables": "vars",
        "profiles": "overlays",
        "include": "extends",
        "nproc_per_node": "distribution.torchrun.processes_per_host",
    },
}

_VALUES: dict[str, str] = {
    "sharded": "ShardedByS3Key",
    "replicated": "FullyReplicated",
    "manifest": "ManifestFile",
    "augmentedmanifest": "AugmentedManifestFile",
    "prefix": "S3Prefix",
    "stream": "Pipe",
    "streaming": "Pipe",
    "download": "File",
    "copy": "File",
    "mount": "FastFile",
    "gz": "Gzip",
    "readonly": "ro",
    "readwrite": "rw",
    "lustre": "FSxLustre",
    "fsx": "FSxLustre",
    "protobuf": "recordio_protobuf",
    "jsonl": "jsonlines",
    "docker": "image",
    "tf": "tensorflow",
}


def hint(word: str) -> Hint | None:
    """Return what is known about a key that the spec does not have."""
    bare = _bare(word)
    for tool, words in _WORDS.items():
        for known, keys in words.items():
            if _bare(known) == bare:
                return Hint(tool, tuple(keys.split()))
    return None


def value_hint(word: str, allowed: tuple[str, ...]) -> str | None:
    """Return the value that another tool's word stands for, if it is one of those allowed."""
    value = _VALUES.get(_bare(word))
    return value if value in allowed else None


def hinted_keys() -> dict[str, tuple[str, ...]]:
    """Return every word of the table with its keys, for the test that these exist."""
    return {word: tuple(keys.split()) for words in _WORDS.values() for word, keys in words.items()}


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
