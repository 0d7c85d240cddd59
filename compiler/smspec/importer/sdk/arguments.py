"""The arguments of the SDK's estimators: their order, their earlier names, and the defaults that it sends.

Objects of the SDK's version 3 describe members of the API: their attributes are its members in snake case.
"""

from __future__ import annotations

from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, Value
from smspec.importer.sdk.variables import NotResolved, Variables
from smspec.service.shapes import Shape, pinned_model

DEFAULT_VOLUME = 30
DEFAULT_MAX_RUN = 86_400
USUAL_LOG_LEVEL = 20

_FRAMEWORK = "entry_point framework_version py_version source_dir hyperparameters image_uri distribution"
_INPUT = (
    "s3_data distribution compression content_type record_wrapping s3_data_type instance_groups input_mode"
    " attribute_names target_attribute_name shuffle_config"
)
_SUBMIT = "training_job inputs job_name retry_config priority share_identifier timeout tags"
ORDER = {
    "Estimator": "image_uri role instance_count instance_type keep_alive_period_in_seconds volume_size",
    "EstimatorBase": "role instance_count instance_type keep_alive_period_in_seconds volume_size volume_kms_key",
    "Framework": "entry_point source_dir hyperparameters container_log_level code_location image_uri dependencies",
    "PyTorch": _FRAMEWORK,
    "MXNet": _FRAMEWORK,
    "SKLearn": "entry_point framework_version py_version source_dir hyperparameters image_uri",
    "XGBoost": "entry_point framework_version source_dir hyperparameters py_version image_uri",
    "TensorFlow": "py_version framework_version model_dir image_uri distribution",
    "HuggingFace": "py_version entry_point transformers_version tensorflow_version pytorch_version source_dir",
    "Chainer": "entry_point use_mpi num_processes process_slots_per_host additional_mpi_options source_dir",
    "RLEstimator": "entry_point toolkit toolkit_version framework source_dir hyperparameters image_uri",
    "TrainingInput": _INPUT,
    "s3_input": _INPUT,
    "FileSystemInput": "file_system_id file_system_type directory_path file_system_access_mode content_type",
    "InstanceGroup": "instance_group_name instance_type instance_count",
    "ShuffleConfig": "seed",
    "fit": "inputs wait logs job_name",
    "TrainingQueue": "queue_name",
    "submit": _SUBMIT,
    "map": _SUBMIT,
    "DebuggerHookConfig": "s3_output_path container_local_output_path hook_parameters collection_configs",
    "CollectionConfig": "name parameters",
    "Rule.sagemaker": "base_config name container_local_output_path s3_output_path other_trials_s3_input_paths",
    "Rule.custom": "name image_uri instance_type volume_size_in_gb source rule_to_invoke",
    "ProfilerRule.sagemaker": "base_config name container_local_output_path s3_output_path",
    "ProfilerRule.custom": "name image_uri instance_type volume_size_in_gb source rule_to_invoke",
    "ProfilerConfig": "s3_output_path system_monitor_interval_millis framework_profile_params profile_params",
    "FrameworkProfile": "local_path file_max_size file_close_interval file_open_fail_threshold",
    "TensorBoardOutputConfig": "s3_output_path container_local_output_path",
}
# Version 2 of the SDK accepts most of these, with a warning.
_EARLIER = {
    "train_instance_type": "instance_type",
    "train_instance_count": "instance_count",
    "train_volume_size": "volume_size",
    "train_volume_kms_key": "volume_kms_key",
    "train_max_run": "max_run",
    "train_max_wait": "max_wait",
    "train_use_spot_instances": "use_spot_instances",
    "image_name": "image_uri",
    "distributions": "distribution",
}
FRAMEWORKS = {
    "PyTorch": "pytorch",
    "TensorFlow": "tensorflow",
    "HuggingFace": "huggingface",
    "SKLearn": "sklearn",
    "XGBoost": "xgboost",
    "MXNet": "mxnet",
    "Chainer": "chainer",
    "RLEstimator": "rl",
    "Framework": "",
}
_NUMBER = "[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?"
METRICS_OF_TOOLKITS = {
    "coach": [
        {"Name": "reward-training", "Regex": "^Training>.*Total reward=(.*?),"},
        {"Name": "reward-testing", "Regex": "^Testing>.*Total reward=(.*?),"},
    ],
    "ray": [
        {"Name": "episode_reward_mean", "Regex": f"episode_reward_mean: ({_NUMBER})"},
        {"Name": "episode_reward_max", "Regex": f"episode_reward_max: ({_NUMBER})"},
    ],
}
"""The metrics that the SDK sends for reinforcement learning, unless the program sets its own."""

SENDS_METRICS = {"PyTorch": (1, 3), "TensorFlow": (1, 15), "MXNet": (1, 6), "HuggingFace": (0, 0)}
"""From these versions of the framework, the SDK turns on metrics of the job as time series."""

WITHOUT_EFFECT = frozenset(
    (
        *("sagemaker_session", "base_job_name", "set_hyperparameters", "framework_version"),
        *("py_version", "transformers_version", "pytorch_version", "tensorflow_version"),
        *("code_location", "disable_profiler", "model_channel_name", "kwargs", "toolkit"),
        *("toolkit_version", "framework", "logs", "wait", "container_log_level", "script_mode"),
        *("image_uri_region"),
    )
)
"""Arguments that are read elsewhere, or that change no member of a request."""

MEMBERS = {
    "volume_kms_key": ("ResourceConfig", "VolumeKmsKeyId"),
    "keep_alive_period_in_seconds": ("ResourceConfig", "KeepAlivePeriodInSeconds"),
    "training_plan": ("ResourceConfig", "TrainingPlanArn"),
    "output_kms_key": ("OutputDataConfig", "KmsKeyId"),
    "metric_definitions": ("AlgorithmSpecification", "MetricDefinitions"),
    "container_entry_point": ("AlgorithmSpecification", "ContainerEntrypoint"),
    "container_arguments": ("AlgorithmSpecification", "ContainerArguments"),
    "max_retry_attempts": ("RetryStrategy", "MaximumRetryAttempts"),
    "enable_infra_check": ("InfraCheckConfig", "EnableInfraCheck"),
    "enable_remote_debug": ("RemoteDebugConfig", "EnableRemoteDebug"),
    "enable_session_tag_chaining": ("SessionChainingConfig", "EnableSessionTagChaining"),
    "instance_placement_config": ("ResourceConfig", "InstancePlacementConfig"),
    "training_repository_access_mode": (
        "AlgorithmSpecification",
        "TrainingImageConfig",
        "TrainingRepositoryAccessMode",
    ),
    "training_repository_credentials_provider_arn": (
        "AlgorithmSpecification",
        "TrainingImageConfig",
        "TrainingRepositoryAuthConfig",
        "TrainingRepositoryCredentialsProviderArn",
    ),
}
"""Argument of an estimator → the member of the request that it becomes unchanged, unless it is None."""

SWITCHES = {
    "enable_network_isolation": ("EnableNetworkIsolation",),
    "encrypt_inter_container_traffic": ("EnableInterContainerTrafficEncryption",),
    "use_spot_instances": ("EnableManagedSpotTraining",),
}
"""Arguments that are sent only if they are true."""

ATTRIBUTES = frozenset(
    (
        *MEMBERS,
        *SWITCHES,
        *("role", "image_uri", "instance_count", "instance_type", "instance_groups", "volume_size", "max_run"),
        *("max_wait", "tags", "environment", "output_path", "input_mode", "subnets", "security_group_ids"),
        *("checkpoint_s3_uri", "checkpoint_local_path", "model_uri", "model_channel_name", "debugger_hook_config"),
        *("rules", "profiler_config", "disable_profiler", "tensorboard_output_config", "disable_output_compression"),
        *("enable_sagemaker_metrics", "entry_point", "source_dir", "dependencies", "git_config", "compiler_config"),
        *("distribution", "container_log_level", "framework_version", "py_version", "hyperparameters", "model_dir"),
        *("training_image", "compute", "source_code", "stopping_condition", "output_data_config", "networking"),
        *("input_data_config", "checkpoint_config", "training_input_mode", "base_job_name"),
    )
)
"""Attributes that an estimator or trainer reads when it starts a job."""

CHANNEL_MEMBERS = {
    "compression": ("CompressionType",),
    "content_type": ("ContentType",),
    "record_wrapping": ("RecordWrapperType",),
    "instance_groups": ("DataSource", "S3DataSource", "InstanceGroupNames"),
    "input_mode": ("InputMode",),
    "attribute_names": ("DataSource", "S3DataSource", "AttributeNames"),
    "target_attribute_name": ("TargetAttributeName",),
}
"""Argument of a training input → the member of its channel."""

_BY_ARGUMENT = {"s3_uri": "uri", "s3_output_path": "uri", "kms_key_id": "kms_key", "volume_kms_key_id": "kms_key"}
_NOT_KNOWN = "its value is known only when the program runs"


def arguments_of(instance: SdkInstance) -> dict[str, Value]:
    """Return the arguments of a call by their current names."""
    order = _order(instance)
    given = dict(zip(order, instance.positional, strict=False))
    given.update(instance.arguments)
    return {_EARLIER.get(name, name): value for name, value in given.items()}


def shared_hyperparameters(instance: SdkInstance) -> Entries | None:
    """Return the mapping of an estimator of a framework, which keeps the one of the program; None for all others."""
    if instance.kind.rpartition(".")[2] not in FRAMEWORKS or "set_hyperparameters" in instance.arguments:
        return None
    given = arguments_of(instance).get("hyperparameters")
    return given if isinstance(given, Entries) and (given.values or not given.is_known) else None


def own_hyperparameters(instance: SdkInstance) -> Entries | None:
    """Return the mapping that an estimator keeps and sends; None if it is not known."""
    given = arguments_of(instance).get("hyperparameters")
    shared = shared_hyperparameters(instance)
    if shared is not None or not isinstance(given, Entries | None):
        return shared
    if given is None or instance.kind.rpartition(".")[2] in FRAMEWORKS:
        given = instance.arguments["hyperparameters"] = Entries({})  # a framework replaces an empty one
    return given


def keeps_hyperparameters(instance: SdkInstance) -> bool:
    """Return whether the class is that of an estimator: a trainer has a public attribute for them."""
    return instance.kind.rpartition(".")[2] in (*FRAMEWORKS, "Estimator", "EstimatorBase")


def keep_copies(instance: SdkInstance) -> None:
    """Give an estimator of a plain image a copy of its hyperparameters, as the SDK does."""
    given = instance.arguments.get("hyperparameters")
    if instance.kind.rpartition(".")[2] in ("Estimator", "EstimatorBase") and isinstance(given, Entries):
        instance.arguments["hyperparameters"] = Entries(dict(given.values), is_known=given.is_known)


def has_too_many(instance: SdkInstance) -> bool:
    """Return whether there are arguments whose names are not known."""
    return len(instance.positional) > len(_order(instance))


def _order(instance: SdkInstance) -> list[str]:
    words = instance.kind.split(".")
    return ORDER.get(words[-1], ORDER.get(".".join(words[-2:]), "")).split()


def shape_at(*path: str) -> Shape:
    """Return the shape of a member of CreateTrainingJob; ``*`` is an item of a list."""
    model = pinned_model()
    shape = model.root
    for name in path:
        shape = model.shapes[shape.item if name == "*" else shape.members[name]]
    return shape


def member_names(shape: Shape) -> dict[str, str]:
    """Return the members of a shape by their names without case and underscores."""
    return {name.lower(): name for name in shape.members}


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def as_member(value: Value, shape: Shape, variables: Variables, argument: str) -> object:
    """Return what an object, or a list of them, is in a request; raise `NotResolved` if it is not known."""
    if isinstance(value, SdkInstance | Entries) and shape.kind == "structure":
        given = arguments_of(value) if isinstance(value, SdkInstance) else {str(k): v for k, v in value.values.items()}
        if not value.is_known or (isinstance(value, SdkInstance) and value.positional):
            raise NotResolved(_NOT_KNOWN)
        return structure(given, shape, variables)
    if isinstance(value, SdkItems) and shape.kind == "list":
        if not value.is_known:
            raise NotResolved(_NOT_KNOWN)
        item = pinned_model().shapes[shape.item]
        return [as_member(inner, item, variables, argument) for inner in value.values]
    return variables.json(value, _BY_ARGUMENT.get(argument, argument))


def structure(given: dict[str, Value], shape: Shape, variables: Variables) -> dict[str, object]:
    """Return the members that attributes are; raise `NotResolved` for one that the API does not have."""
    names = member_names(shape)
    found: dict[str, object] = {}
    for name, value in given.items():
        if value is None:
            continue
        member = names.get(plain(name))
        if member is None:
            raise NotResolved(f"the API has no member for `{name}`")
        found[member] = as_member(value, pinned_model().shapes[shape.members[member]], variables, name)
    return found
