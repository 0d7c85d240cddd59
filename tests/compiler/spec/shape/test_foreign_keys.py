"""Keys and values of other tools get a hint to the key of the spec."""

import pytest

from smspec.service.shapes import pinned_model
from smspec.spec.schema.job_schema import spec_keys
from smspec.spec.shape.faulty_keys import suggestion
from smspec.spec.shape.foreign_keys import hint, hinted_keys, value_hint

TOOLS = {
    "Azure ML": """
        $schema type experiment_name display_name description code command inputs outputs environment compute
        resources properties docker_args instance_count instance_type distribution process_count_per_instance
        process_count limits timeout environment_variables identity trial objective search_space retry_settings
        max_retries queue_settings job_tier locations node_count conda_file mode path""",
    "SkyPilot": """
        name workdir num_nodes resources accelerators accelerator_args cpus memory any_of ordered infra cloud
        region zone instance_type use_spot spot_recovery job_recovery max_restarts_on_errors disk_size disk_tier
        image_id labels envs secrets volumes file_mounts store setup run""",
    "Kubernetes": """
        apiVersion kind metadata spec annotations template containers initContainers image imagePullPolicy
        imagePullSecrets command args env envFrom configMap secret resources limits requests nodeSelector
        tolerations affinity volumes volumeMounts mountPath subPath emptyDir persistentVolumeClaim restartPolicy
        backoffLimit activeDeadlineSeconds runPolicy completions parallelism replicas nodes minReplicas
        maxReplicas elasticPolicy serviceAccountName serviceAccount workingDir pytorchReplicaSpecs
        mpiReplicaSpecs tfReplicaSpecs Master Worker Launcher nprocPerNode slotsPerWorker""",
    "the SDK, version 2": """
        entry_point source_dir dependencies git_config hyperparameters container_log_level code_location
        image_uri image_uri_region image_name role instance_count instance_type keep_alive_period_in_seconds
        volume_size volume_kms_key max_run input_mode output_path output_kms_key base_job_name sagemaker_session
        tags subnets security_group_ids model_uri model_channel_name metric_definitions
        encrypt_inter_container_traffic use_spot_instances max_wait checkpoint_s3_uri checkpoint_local_path
        enable_network_isolation rules debugger_hook_config tensorboard_output_config enable_sagemaker_metrics
        profiler_config disable_profiler environment max_retry_attempts instance_groups
        training_repository_access_mode training_repository_credentials_provider_arn enable_infra_check
        container_entry_point container_arguments disable_output_compression enable_remote_debug
        enable_session_tag_chaining training_plan instance_placement_config framework_version py_version
        distribution compiler_config script_mode transformers_version tensorflow_version pytorch_version
        model_dir inputs job_name experiment_config train_instance_count train_instance_type train_volume_size
        train_volume_kms_key train_max_run train_use_spot_instances train_max_wait s3_data s3_data_type
        content_type compression record_wrapping attribute_names target_attribute_name shuffle_config
        instance_group_names hub_access_config model_access_config file_system_id file_system_type
        file_system_access_mode directory_path custom_mpi_options smdistributed dataparallel modelparallel
        torch_distributed pytorchddp""",
    "the SDK, version 3": """
        role base_job_name source_code distributed compute networking stopping_condition training_image
        training_image_config algorithm_name input_data_config output_data_config checkpoint_config
        training_input_mode environment hyperparameters tags source_dir requirements entry_script command
        ignore_patterns instance_type instance_count volume_size_in_gb volume_kms_key_id
        keep_alive_period_in_seconds enable_managed_spot_training instance_groups training_plan_arn
        instance_placement_config enable_network_isolation enable_inter_container_traffic_encryption
        security_group_ids subnets max_runtime_in_seconds max_wait_time_in_seconds max_pending_time_in_seconds
        s3_output_path kms_key_id compression_type s3_uri local_path channel_name data_source s3_data_source
        file_system_data_source content_type s3_data_type s3_data_distribution_type attribute_names
        instance_group_names record_wrapper_type shuffle_config process_count_per_node mpi_additional_options
        smp training_recipe recipe_overrides metric_definitions tensor_board_output_config retry_strategy
        infra_check_config session_chaining_config remote_debug_config serverless_job_config mlflow_config
        model_package_config""",
    "cog": """
        build gpu cuda cudnn python_version python_packages python_requirements system_packages pre_install run
        image predict train weights environment""",
    "sagify": """
        image_name docker_image_base_url python_version requirements_dir sagify_module_dir input_s3_dir
        output_s3_dir hyperparams_file ec2_type volume_size time_out job_name base_job_name use_spot_instances
        metric_names iam_role_arn aws_region aws_tags""",
    "the API": " ".join({name: "" for shape in pinned_model().shapes.values() for name in shape.members}),
}
WORDS = [(tool, word) for tool, words in TOOLS.items() for word in words.split()]
OURS = {key[-1] for key in spec_keys()}


@pytest.mark.parametrize(("tool", "word"), WORDS, ids=[f"{tool}: {word}" for tool, word in WORDS])
def test_key_of_another_tool_gets_a_hint(tool, word):
    if (word,) in spec_keys():
        return  # it is ours too, at the same place
    meant = suggestion(word, ())
    if meant is None:
        # Ours, but it stands in so many places that only a hint could pick one.
        assert word in OURS
        assert any(suggestion(word, place) for place in (("distribution",), ("channels", "x", "file_system")))
        return
    assert meant.key in spec_keys()


def test_list_of_hints_is_long():
    assert len({word for _, word in WORDS}) > 330
    assert len(hinted_keys()) > 280


def test_nested_api_member_gets_a_hint_at_its_path():
    assert hint("ContentType").keys == ("channels.*.content_type",)
    assert suggestion("CompressionType", ("output",)).key == ("output", "compression")
    assert suggestion("CompressionType", ("channels", "x")).key == ("channels", "*", "compression")
    assert suggestion("InstanceCount", ("hosts", "groups", 0)).key == ("hosts", "groups", "*", "count")
    assert suggestion("EnableInfraCheck", ()).key == ("api",)


@pytest.mark.parametrize(
    ("word", "allowed", "meant"),
    [
        ("ro_mount", ("File", "FastFile", "Pipe"), "FastFile"),
        ("MOUNT_CACHED", ("File", "FastFile", "Pipe"), "FastFile"),
        ("download", ("File", "FastFile", "Pipe"), "File"),
        ("uri_folder", ("ManifestFile", "S3Prefix"), "S3Prefix"),
        ("by_key", ("FullyReplicated", "ShardedByS3Key"), "ShardedByS3Key"),
        ("ro_mount", ("a", "b"), None),
    ],
)
def test_value_of_another_tool_gets_a_hint(word, allowed, meant):
    assert value_hint(word, allowed) == meant
