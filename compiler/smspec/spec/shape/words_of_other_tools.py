"""Words of other tools, by the keys they are here. Read only where a spec has a key that we do not know.

Where a word can be one of several keys, the first is the usual one.
"""

from __future__ import annotations

_API = {
    "job_name": "TrainingJobName",
    "image": "AlgorithmSpecification TrainingImage",
    "api": (
        "AlgorithmName TrainingImageConfig InstancePlacementConfig InstancePreferences DebugHookConfig "
        "DebugRuleConfigurations ProfilerConfig ProfilerRuleConfigurations ExperimentConfig RemoteDebugConfig "
        "InfraCheckConfig SessionChainingConfig ServerlessJobConfig MlflowConfig ModelPackageConfig "
        "BaseModelArn CollectionConfigurations CollectionName CollectionParameters CustomizationTechnique "
        "DisableProfiler EnableInfraCheck EnableMultipleJobs EnableRemoteDebug "
        "EnableSageMakerMetricsTimeSeries EnableSessionTagChaining EvaluationType EvaluatorArn ExperimentName "
        "HookParameters RuleParameters JobType MlflowExperimentName MlflowResourceArn MlflowRunName "
        "ModelPackageGroupArn Peft PlacementSpecifications ProfilingIntervalInMilliseconds "
        "ProfilingParameters RuleConfigurationName RuleEvaluatorImage RunName SelectedInstanceCount "
        "SelectedInstanceType SequenceLength SourceModelPackageArn TrainingRepositoryAccessMode "
        "TrainingRepositoryAuthConfig TrainingRepositoryCredentialsProviderArn TrialComponentDisplayName "
        "TrialName UltraServerId"
    ),
    "input_mode": "TrainingInputMode",
    "metrics": "MetricDefinitions",
    "entry_point.command": "ContainerEntrypoint",
    "entry_point.args": "ContainerArguments",
    "role": "RoleArn",
    "channels": "InputDataConfig ChannelName",
    "channels.*.s3": "DataSource S3DataSource",
    "channels.*.s3 output.s3 checkpoints.s3": "S3Uri",
    "channels.*.distribution": "S3DataDistributionType",
    "channels.*.attributes": "AttributeNames",
    "channels.*.instance_groups": "InstanceGroupNames",
    "channels.*.file_system": "FileSystemDataSource",
    "channels.*.file_system.id": "FileSystemId",
    "channels.*.file_system.type": "FileSystemType",
    "channels.*.file_system.access": "FileSystemAccessMode",
    "channels.*.file_system.path": "DirectoryPath",
    "channels.*.compression output.compression": "CompressionType",
    "channels.*.record_wrapper": "RecordWrapperType",
    "channels.*.shuffle_seed": "ShuffleConfig Seed",
    "output": "OutputDataConfig",
    "output output.s3 tensorboard": "S3OutputPath",
    "output.kms_key": "KmsKeyId",
    "hosts": "ResourceConfig",
    "hosts.count hosts.groups.*.count": "InstanceCount",
    "hosts.instance_type hosts.groups.*.instance_type": "InstanceType",
    "hosts.volume": "VolumeSizeInGB",
    "hosts.volume_kms_key": "VolumeKmsKeyId",
    "hosts.keep_alive": "KeepAlivePeriodInSeconds",
    "hosts.groups": "InstanceGroups",
    "hosts.groups.*.name": "InstanceGroupName",
    "hosts.training_plan": "TrainingPlanArn TrainingPlanArns",
    "network": "VpcConfig",
    "network.security_groups": "SecurityGroupIds",
    "network.isolation": "EnableNetworkIsolation",
    "network.encrypt_inter_container": "EnableInterContainerTrafficEncryption",
    "stopping": "StoppingCondition",
    "stopping.max_runtime": "MaxRuntimeInSeconds",
    "stopping.max_pending": "MaxPendingTimeInSeconds",
    "spot.max_wait": "MaxWaitTimeInSeconds",
    "spot": "EnableManagedSpotTraining",
    "checkpoints": "CheckpointConfig",
    "checkpoints.local": "LocalPath",
    "tensorboard": "TensorBoardOutputConfig",
    "retries": "RetryStrategy MaximumRetryAttempts",
    "metrics.*.regex": "Regex",
    "channels.*.api": "ModelAccessConfig HubAccessConfig AcceptEula DatasetArn DatasetSource HubContentArn",
    "channels.*.content_type": "ContentType",
    "channels.*.s3_data_type": "S3DataType",
    "channels.*.input_mode input_mode": "InputMode",
    "tags": "Key Value",
}
"""Members of CreateTrainingJob, at any depth."""

_SDK = {
    "image": "image_uri image_name",
    "name": "base_job_name",
    "source": "source_dir source_code dependencies git_config",
    "entry_point.script": "entry_script py_file",
    "source.ignore": "ignore_patterns",
    "source.s3": "code_location",
    "entry_point.command": "container_entry_point",
    "image.python_requirements": "requirements requirements_file",
    "image.base": "framework_version py_version transformers_version tensorflow_version pytorch_version",
    "hosts.count": "train_instance_count",
    "hosts.instance_type": "train_instance_type",
    "hosts.volume": "volume_size train_volume_size",
    "hosts": "compute",
    "network": "networking",
    "network.security_groups": "security_group_ids",
    "network.encrypt_inter_container": "encrypt_inter_container_traffic",
    "network.isolation": "enable_network_isolation",
    "stopping.max_runtime": "max_run train_max_run",
    "spot.max_wait": "max_wait train_max_wait",
    "spot": "use_spot_instances train_use_spot_instances",
    "retries": "max_retry_attempts",
    "output": "output_path model_dir",
    "output.kms_key": "output_kms_key",
    "output.compression": "disable_output_compression",
    "checkpoints": "checkpoint_s3_uri",
    "checkpoints.local": "checkpoint_local_path",
    "channels.*.s3": "s3_data data_source",
    "channels.*.attributes": "attribute_names target_attribute_name",
    "channels.*.record_wrapper": "record_wrapping",
    "distribution.torchrun": "torch_distributed pytorchddp",
    "distribution.smdataparallel": "smdistributed dataparallel",
    "distribution.torchrun.processes_per_host distribution.mpi.processes_per_host": "process_count_per_node",
    "distribution.mpi.options": "custom_mpi_options mpi_additional_options",
    "api": (
        "debugger_hook_config rules enable_sagemaker_metrics disable_profiler training_repository_access_mode "
        "training_repository_credentials_provider_arn enable_infra_check enable_remote_debug "
        "enable_session_tag_chaining"
    ),
    "environment": "environment_variables container_log_level",
    "region": "image_uri_region sagemaker_session",
    "channels": "model_uri model_channel_name",
    "hyperparameters": "compiler_config training_recipe recipe_overrides",
    "entry_point": "script_mode",
    "hosts.volume_kms_key": "train_kms_key train_volume_kms_key",
    "distribution": "modelparallel smp distributed",
}
"""Arguments of `Estimator` and its kin (version 2) and of `ModelTrainer` with what it takes (version 3)."""

_SKYPILOT = {
    "hosts": "resources",
    "hosts.instance_type": "accelerators cpus memory any_of ordered accelerator_args",
    "hosts.count": "num_nodes",
    "hosts.volume": "disk_size disk_tier",
    "spot": "use_spot",
    "source": "workdir",
    "channels": "file_mounts",
    "image.run": "setup",
    "environment": "envs secrets",
    "region": "cloud infra zone",
    "retries": "spot_recovery job_recovery max_restarts_on_errors",
    "image": "image_id",
    "channels.*.s3": "store",
}
"""Keys of a task."""

_AZURE = {
    "channels": "inputs",
    "output": "outputs",
    "source": "code",
    "entry_point.command": "command",
    "description": "display_name",
    "hosts.count": "instance_count node_count",
    "stopping": "limits",
    "stopping.max_runtime": "timeout",
    "distribution.torchrun.processes_per_host distribution.mpi.processes_per_host": (
        "process_count_per_instance process_count"
    ),
    "channels.*.input_mode": "mode",
    "smspec": "$schema",
    "name": "experiment_name",
    "tags": "properties",
    "image": "docker_args",
    "image.python_requirements": "conda_file",
    "role": "identity",
    "entry_point": "trial",
    "metrics": "objective",
    "hyperparameters": "search_space",
    "retries": "retry_settings",
    "spot": "queue_settings job_tier",
    "region": "locations",
}
"""Keys of a command or sweep job."""

_KUBERNETES = {
    "smspec": "apiVersion kind",
    "name": "metadata",
    "image": "containers imagePullPolicy",
    "environment": "env envFrom configMap secret",
    "hosts.count": "replicas nodes parallelism completions elasticPolicy minReplicas maxReplicas",
    "retries": "backoffLimit restartPolicy",
    "stopping.max_runtime": "activeDeadlineSeconds",
    "role": "serviceAccountName serviceAccount",
    "tags": "annotations",
    "channels": "volumes volumeMounts mountPath",
    "api": "spec imagePullSecrets",
    "extends": "template",
    "hosts.instance_type": "requests nodeSelector tolerations affinity",
    "channels.*.s3": "subPath",
    "channels.*.file_system": "persistentVolumeClaim",
    "hosts": "pytorchReplicaSpecs mpiReplicaSpecs tfReplicaSpecs",
    "hosts.groups": "Master Worker Launcher",
    "stopping": "runPolicy",
    "source": "workingDir",
    "hosts.volume": "emptyDir",
    "image.run": "initContainers",
    "distribution.mpi.processes_per_host": "slotsPerWorker",
}
"""Keys of jobs, of the training operator's and of the SageMaker controllers' objects."""

_COG = {
    "image": "build",
    "image.base": "gpu cuda cudnn python_version",
    "image.run": "pre_install",
    "entry_point": "predict train",
    "channels": "weights",
}
"""Keys of cog.yaml."""

_SAGIFY = {
    "image.base": "docker_image_base_url",
    "image.python_requirements": "requirements_dir",
    "source": "sagify_module_dir",
    "channels": "input_s3_dir",
    "output": "output_s3_dir",
    "hyperparameters": "hyperparams_file",
    "hosts.instance_type": "ec2_type",
    "metrics": "metric_names",
    "role": "iam_role_arn",
    "region": "aws_region",
    "tags": "aws_tags",
}
"""Options of `sagify cloud train`."""

_ANYBODY = {
    "channels": "data datasets",
    "channels.*.distribution": "sharding shard",
    "channels.*.s3 output.s3 checkpoints.s3": "uri",
    "channels.*.s3": "url",
    "channels.*.shuffle_seed": "shuffle",
    "hosts.instance_type": "gpus machine_type",
    "hosts.count": "instances",
    "hyperparameters": "hparams hyperparams params parameters",
    "image.system_packages": "apt",
    "image.python_packages": "pip",
    "image.python_packages image.system_packages": "packages",
    "image": "dockerfile docker",
    "image.base": "from",
    "distribution": "launcher",
    "entry_point": "program main",
    "entry_point.command": "cmd",
    "entry_point.module": "function",
    "entry_point.pipe_loop": "handler",
    "retries": "retry",
    "vars": "variables",
    "overlays": "profiles",
    "extends": "include",
    "distribution.torchrun.processes_per_host": "nproc_per_node",
}
"""Words that many use."""

WORDS: dict[str, dict[str, str]] = {
    "the SageMaker API": _API,
    "the SageMaker Python SDK": _SDK,
    "SkyPilot": _SKYPILOT,
    "Azure ML": _AZURE,
    "Kubernetes": _KUBERNETES,
    "cog": _COG,
    "sagify": _SAGIFY,
    "": _ANYBODY,
}
"""Tool → key of ours, or several → the words that mean it. Tools are asked in order; no name: nobody in particular."""
