"""Rules about a whole request whose members have their shapes: one file per rule, named after the problem.

They are grouped by the part of the request that they check. `RULES` lists the members that activate each rule: most
requests have neither a debugger nor a warm pool, and do not import those rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from importlib import import_module

from smspec.diagnostics import Finding
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.source.by_identity import ByIdentity

BUILT_IN_ALGORITHM = "a built-in algorithm"
"""Activates a rule if the repository of the image has the name of one: few requests have such an image."""
LAUNCHER = "a launcher"
"""Activates a rule if smspec or SageMaker's toolkit launches processes by settings that the rules read."""

PROVIDED_IMAGE = "an image of AWS"
"""Activates what reads the tables of `smspec.service.facts`: most jobs run an image of their own."""

SECRETS = "secrets by reference"
"""Activates a rule if the smspec runtime fetches secrets for the job."""

OF_NO_MEMBER = frozenset({BUILT_IN_ALGORITHM, LAUNCHER, PROVIDED_IMAGE, SECRETS})

RULES: dict[str, tuple[str, ...]] = {
    "presence.job_without_algorithm": (),
    "presence.job_without_hosts": (),
    "presence.job_without_stopping_condition": (),
    "presence.marketplace_algorithm_without_isolation": ("AlgorithmSpecification.AlgorithmName",),
    "algorithm.command_in_an_unknown_channel": (
        "AlgorithmSpecification.ContainerEntrypoint",
        "AlgorithmSpecification.ContainerArguments",
    ),
    "algorithm.image_with_an_algorithm_name": ("AlgorithmSpecification.AlgorithmName",),
    "algorithm.image_outside_ecr_without_vpc_access": ("AlgorithmSpecification.TrainingImage",),
    "algorithm.image_without_a_full_reference": ("AlgorithmSpecification.TrainingImage",),
    "algorithm.invalid_metric_regex": ("AlgorithmSpecification.MetricDefinitions",),
    "algorithm.metric_without_a_group": ("AlgorithmSpecification.MetricDefinitions",),
    "algorithm.metrics_of_a_built_in_algorithm": ("AlgorithmSpecification.MetricDefinitions",),
    "algorithm.mutable_image_reference": ("AlgorithmSpecification.TrainingImage",),
    "algorithm.neither_image_nor_algorithm_name": ("AlgorithmSpecification",),
    "algorithm.entrypoint_channel_without_file_mode": (
        "AlgorithmSpecification.ContainerEntrypoint",
        "AlgorithmSpecification.ContainerArguments",
    ),
    "algorithm.registry_credentials_without_vpc_access": ("AlgorithmSpecification.TrainingImageConfig",),
    "algorithm.repeated_metric": ("AlgorithmSpecification.MetricDefinitions",),
    "algorithm.sharded_entrypoint_channel": (
        "AlgorithmSpecification.ContainerEntrypoint",
        "AlgorithmSpecification.ContainerArguments",
    ),
    "algorithm.ineffective_time_series_switch": ("AlgorithmSpecification.EnableSageMakerMetricsTimeSeries",),
    "algorithm.vpc_access_to_ecr": ("AlgorithmSpecification.TrainingImageConfig",),
    "algorithm.vpc_access_without_vpc": ("AlgorithmSpecification.TrainingImageConfig",),
    "built_in.content_type_not_set": (BUILT_IN_ALGORITHM,),
    "built_in.cpu_hosts_for_a_gpu_algorithm": (BUILT_IN_ALGORITHM,),
    "built_in.different_mode": (BUILT_IN_ALGORITHM,),
    "built_in.forest_without_sharded_data": (BUILT_IN_ALGORITHM,),
    "built_in.gpu_hosts_for_a_cpu_algorithm": (BUILT_IN_ALGORITHM,),
    "built_in.hyperparameter_out_of_range": (BUILT_IN_ALGORITHM,),
    "built_in.hyperparameter_outside_a_documented_range": (BUILT_IN_ALGORITHM,),
    "built_in.missing_channel": (BUILT_IN_ALGORITHM,),
    "built_in.missing_hyperparameter": (BUILT_IN_ALGORITHM,),
    "built_in.misspelled_hyperparameter": (BUILT_IN_ALGORITHM,),
    "built_in.misspelled_value": (BUILT_IN_ALGORITHM,),
    "built_in.quoted_value": (BUILT_IN_ALGORITHM,),
    "built_in.several_hosts": (BUILT_IN_ALGORITHM,),
    "built_in.unknown_channel": (BUILT_IN_ALGORITHM,),
    "built_in.unsupported_content_type": (BUILT_IN_ALGORITHM,),
    "built_in.unsupported_input_mode": (BUILT_IN_ALGORITHM,),
    "channels.attributes_without_augmented_manifest": ("InputDataConfig.DataSource.S3DataSource.AttributeNames",),
    "channels.augmented_manifest_without_attributes": (
        "InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",
    ),
    "channels.augmented_manifest_without_pipe_mode": (
        "InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",
    ),
    "channels.channel_with_a_relative_directory_name": ("InputDataConfig",),
    "channels.channel_without_an_instance_group": ("InputDataConfig.DataSource.S3DataSource.InstanceGroupNames",),
    "channels.channel_without_exactly_one_data_source": ("InputDataConfig",),
    "channels.conversations_without_a_serverless_job": ("InputDataConfig.DataSource.S3DataSource.S3DataType=Converse",),
    "channels.dataset_without_a_serverless_job": ("InputDataConfig.DataSource.DatasetSource",),
    "channels.relative_directory": ("InputDataConfig.DataSource.FileSystemDataSource",),
    "channels.file_system_without_file_mode": ("InputDataConfig.DataSource.FileSystemDataSource",),
    "channels.file_system_without_vpc": ("InputDataConfig.DataSource.FileSystemDataSource",),
    "channels.gzip_without_pipe_mode": ("InputDataConfig.CompressionType",),
    "channels.hub_content_other_than_a_model": ("InputDataConfig.DataSource.S3DataSource.HubAccessConfig",),
    "channels.manifest_in_fast_file_mode": ("InputDataConfig.DataSource.S3DataSource.S3DataType=ManifestFile",),
    "channels.manifest_without_an_object_key": (
        "InputDataConfig.DataSource.S3DataSource.S3DataType=ManifestFile",
        "InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",
    ),
    "channels.model_without_accepted_eula": ("InputDataConfig.DataSource.S3DataSource.ModelAccessConfig",),
    "channels.model_without_file_mode": ("InputDataConfig.ContentType",),
    "channels.partial_folder_in_fast_file_mode": (
        "InputDataConfig.InputMode=FastFile",
        "AlgorithmSpecification.TrainingInputMode=FastFile",
    ),
    "channels.record_io_in_fast_file_mode": ("InputDataConfig.RecordWrapperType",),
    "channels.record_io_in_file_mode": ("InputDataConfig.RecordWrapperType",),
    "channels.duplicate_channel": ("InputDataConfig",),
    "channels.sharding_on_one_host": ("InputDataConfig.DataSource.S3DataSource.S3DataDistributionType=ShardedByS3Key",),
    "channels.shuffled_file_system": ("InputDataConfig.DataSource.FileSystemDataSource",),
    "channels.unknown_instance_group": ("InputDataConfig.DataSource.S3DataSource.InstanceGroupNames",),
    "images.account_of_a_different_region": (PROVIDED_IMAGE,),
    "images.gpu_image_on_cpu_instances": (PROVIDED_IMAGE,),
    "images.image_for_a_different_architecture": (PROVIDED_IMAGE,),
    "images.image_for_a_different_processor": (PROVIDED_IMAGE,),
    "images.image_past_its_end_of_patch": (PROVIDED_IMAGE,),
    "images.repository_of_a_different_account": (PROVIDED_IMAGE,),
    "images.unlisted_image_tag": (PROVIDED_IMAGE,),
    "storage.invalid_bucket_name": (),
    "storage.double_slash_in_a_channel": ("InputDataConfig.DataSource.S3DataSource",),
    "storage.key_above_the_limit_of_s3": (),
    "storage.kms_key_of_another_service": (),
    "storage.literal_text_in_an_s3_address": (),
    "storage.output_in_a_channel": ("InputDataConfig.DataSource.S3DataSource",),
    "storage.channel_with_other_data": ("InputDataConfig.DataSource.S3DataSource",),
    "storage.whole_bucket_as_checkpoints": ("CheckpointConfig",),
    "storage.checkpoints_at_the_output_prefix": ("CheckpointConfig",),
    "storage.checkpoints_in_a_managed_directory": ("CheckpointConfig",),
    "storage.kms_key_with_s3_express": ("OutputDataConfig.KmsKeyId",),
    "storage.relative_checkpoint_directory": ("CheckpointConfig",),
    "storage.s3_uri_with_https": (),
    "hosts.ebs_only_instances_without_a_volume": ("ResourceConfig",),
    "hosts.instance_type_rarely_available": ("ResourceConfig",),
    "hosts.missing_instance_count": ("ResourceConfig",),
    "hosts.missing_instance_type": ("ResourceConfig",),
    "hosts.instance_groups_with_an_instance_type": ("ResourceConfig.InstanceGroups",),
    "hosts.long_warm_pool": ("ResourceConfig.KeepAlivePeriodInSeconds",),
    "hosts.placement_of_zero_instances": ("ResourceConfig.InstancePlacementConfig",),
    "hosts.placement_without_an_ultraserver": ("ResourceConfig.InstancePlacementConfig",),
    "hosts.placements_beyond_the_hosts": ("ResourceConfig.InstancePlacementConfig",),
    "hosts.response_only_member": ("ResourceConfig.SelectedInstanceType", "ResourceConfig.SelectedInstanceCount"),
    "hosts.duplicate_instance_group": ("ResourceConfig.InstanceGroups",),
    "hosts.training_plan_with_spot": ("ResourceConfig.TrainingPlanArn", "ResourceConfig.InstancePreferences"),
    "hosts.volume_key_alias": ("ResourceConfig.VolumeKmsKeyId",),
    "hosts.volume_key_on_hosts_with_local_storage": ("ResourceConfig.VolumeKmsKeyId",),
    "hosts.volume_on_hosts_with_local_storage": ("ResourceConfig.VolumeSizeInGB",),
    "hosts.warm_pool_with_instance_groups": ("ResourceConfig.KeepAlivePeriodInSeconds",),
    "hosts.warm_pool_with_spot": ("ResourceConfig.KeepAlivePeriodInSeconds",),
    "hosts.zero_instances": ("ResourceConfig",),
    "hosts.instance_type_not_in_the_region": ("ResourceConfig",),
    "hosts.more_processes_than_devices": (LAUNCHER,),
    "hosts.smdataparallel_outside_its_documentation": (LAUNCHER,),
    "hosts.unchecked_security_groups": ("VpcConfig",),
    "hosts.unsupported_hosts_of_smdataparallel": (LAUNCHER,),
    "stopping.long_wait_of_an_algorithm_without_checkpoints": ("EnableManagedSpotTraining",),
    "stopping.max_runtime_above_the_default_quota": ("StoppingCondition.MaxRuntimeInSeconds",),
    "stopping.max_wait_below_max_runtime": ("EnableManagedSpotTraining",),
    "stopping.max_wait_without_spot": ("StoppingCondition.MaxWaitTimeInSeconds",),
    "stopping.overlong_max_runtime": ("StoppingCondition.MaxRuntimeInSeconds",),
    "stopping.spot_without_checkpoints": ("EnableManagedSpotTraining",),
    "stopping.spot_without_max_wait": ("EnableManagedSpotTraining",),
    "network.s3_code_download_in_network_isolation": ("EnableNetworkIsolation",),
    "network.encryption_on_a_single_host": ("EnableInterContainerTrafficEncryption",),
    "network.isolated_container_that_needs_the_network": ("EnableNetworkIsolation",),
    "network.malformed_network_id": ("VpcConfig",),
    "network.remote_debug_in_isolation": ("RemoteDebugConfig",),
    "network.duplicate_network_id": ("VpcConfig",),
    "debugging.debug_rules_without_a_hook": ("DebugRuleConfigurations",),
    "debugging.profiler_in_china": ("ProfilerConfig",),
    "debugging.profiler_on_trainium": ("ProfilerConfig",),
    "debugging.profiler_rules_with_the_profiler_off": ("ProfilerRuleConfigurations",),
    "debugging.profiler_rules_without_a_profiler": ("ProfilerRuleConfigurations",),
    "debugging.duplicate_collection": ("DebugHookConfig",),
    "debugging.duplicate_rule_configuration": ("DebugRuleConfigurations", "ProfilerRuleConfigurations"),
    "debugging.many_debugger_rules": ("DebugRuleConfigurations", "ProfilerRuleConfigurations"),
    "debugging.unknown_profiling_parameter": ("ProfilerConfig",),
    "debugging.unsupported_profiling_interval": ("ProfilerConfig",),
    "serverless.declined_license": ("ServerlessJobConfig",),
    "serverless.evaluation_without_a_type": ("ServerlessJobConfig",),
    "serverless.fine_tuning_without_a_technique": ("ServerlessJobConfig",),
    "serverless.unsupported_serverless_job_member": ("ServerlessJobConfig",),
    "serverless.member_of_a_different_serverless_job_type": ("ServerlessJobConfig",),
    "serverless.model_package_without_a_serverless_job": ("ModelPackageConfig",),
    "serverless.volume_of_a_serverless_job": ("ServerlessJobConfig",),
    "names.hyperparameter_without_a_name": ("HyperParameters",),
    "names.nul_in_the_request": (),
    "names.duplicate_tag": ("Tags",),
    "names.reserved_tag": ("Tags",),
    "names.run_without_an_experiment": ("ExperimentConfig",),
    "names.reserved_environment_variable": ("Environment",),
    "regions.arn_of_a_different_partition": (),
    "regions.arn_of_a_different_region": (),
    "regions.registry_with_another_dns_suffix": ("AlgorithmSpecification.TrainingImage",),
    "regions.image_in_a_different_region": ("AlgorithmSpecification.TrainingImage",),
    "secrets.isolated_job_that_fetches_secrets": (SECRETS,),
    "secrets.malformed_secret_arn": (SECRETS,),
    "secrets.secret_for_a_reserved_variable": (SECRETS,),
    "secrets.secret_in_a_different_partition": (SECRETS,),
    "secrets.variable_set_as_secret_and_in_environment": (SECRETS,),
    "secrets.secret_in_the_request": (
        "HyperParameters",
        "Environment",
        "Tags",
        "AlgorithmSpecification.ContainerEntrypoint",
        "AlgorithmSpecification.ContainerArguments",
    ),
}
"""Module with ``check(request)`` → what activates it: one of these members of the request, members of any item of a
list, a member with this value, or one of `OF_NO_MEMBER`; empty: the rule always runs."""

_LAUNCHER_SETTINGS = (
    "sagemaker_smspec",
    "sagemaker_mpi_num_of_processes_per_host",
    "sagemaker_distributed_dataparallel_enabled",
)

# fmt: off
_ALGORITHMS = frozenset({
    "blazingtext", "factorization-machines", "forecasting-deepar", "image-classification", "ipinsights", "kmeans",
    "knn", "lda", "linear-learner", "ntm", "object-detection", "object2vec", "pca", "randomcutforest",
    "sagemaker-xgboost", "semantic-segmentation", "seq2seq", "xgboost",
})
# fmt: on


Check = Callable[[Request], Iterator[Finding]]
_ACTIVATING: ByIdentity[frozenset[str]] = ByIdentity()  # jobs share most members


class _Member:
    """A member of requests: what it activates by its value (None: any value), and the members below it."""

    __slots__ = ("below", "triggers")

    def __init__(self) -> None:
        self.triggers: dict[str | None, str] = {}
        self.below: dict[str, _Member] = {}


def rule_findings(request: Request) -> Iterator[Finding]:
    """Yield all findings of the rules for a request, at paths of the request."""
    there: set[str] = set()
    members = _members().below
    for name, value in request.payload.items():
        if name in members:
            there |= _ACTIVATING.of(name, value, functools.partial(_activating, value, members[name]))
    image = request.image
    if image is not None and image.repository in _ALGORITHMS:
        there.add(BUILT_IN_ALGORITHM)
    hyperparameters = structure(request.payload, "HyperParameters")
    if request.launcher == "smdataparallel" or any(name in hyperparameters for name in _LAUNCHER_SETTINGS):
        there.add(LAUNCHER)
    if "sagemaker_smspec" in hyperparameters and _has_secrets(hyperparameters):
        there.add(SECRETS)
    if _runs_an_image_of_aws(request):
        there.add(PROVIDED_IMAGE)
    for check in _activated(frozenset(there)):
        yield from check(request)


@functools.cache
def _members() -> _Member:
    """Return the members that activate rules as a tree, so that one walk over a request finds all that are set."""
    root = _Member()
    for trigger in {trigger for triggers in RULES.values() for trigger in triggers} - OF_NO_MEMBER:
        path, equals, value = trigger.partition("=")
        member = root
        for step in path.split("."):
            member = member.below.setdefault(step, _Member())
        member.triggers[value if equals else None] = trigger
    return root


def _runs_an_image_of_aws(request: Request) -> bool:
    """Return whether the image is in an account of AWS. The account of the role is never one."""
    image = request.image
    if image is None or image.account is None or (request.role and image.account == request.role.account):
        return False
    # Imported late: it reads the accounts.
    from smspec.service.provided_image import is_provided

    return is_provided(image)


def _has_secrets(hyperparameters: dict[str, object]) -> bool:
    # Imported late: few jobs have settings.
    from smspec.service.secret_settings import has_secret_settings

    return has_secret_settings(hyperparameters)


def _activating(value: object, member: _Member) -> frozenset[str]:
    """Return what a member of a request activates."""
    there: set[str] = set()
    _look(value, member, there)
    return frozenset(there)


def _look(part: object, member: _Member, there: set[str]) -> None:
    """Add to ``there`` what a part of a request activates."""
    if isinstance(part, list):
        for item in part:
            _look(item, member, there)
        return
    for value, trigger in member.triggers.items():
        if value is None or part == value:
            there.add(trigger)
    if isinstance(part, dict):
        for step, below in member.below.items():
            if step in part:
                _look(part[step], below, there)


@functools.lru_cache(maxsize=256)
def _activated(there: frozenset[str]) -> list[Check]:
    """Return the checks to run. Jobs of a repository are much alike, and most activate the same."""
    return [_check_of(name) for name, triggers in RULES.items() if not triggers or not there.isdisjoint(triggers)]


@functools.cache
def _check_of(name: str) -> Check:
    """Return the check of a rule.

    Its module is imported when a request first activates it: most requests activate few.
    """
    check: Check = import_module(f"{__name__}.{name}").check
    return check
