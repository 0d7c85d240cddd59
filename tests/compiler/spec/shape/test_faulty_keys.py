"""Unknown, missing, and incompatible keys suggest what was meant, also by words of other tools."""

import random
import string

import pytest

from smspec.service.shapes import pinned_model
from smspec.spec.schema import choices, key_path, keys_in, spec_keys, written_key
from smspec.spec.shape import shape_findings
from smspec.spec.shape.faulty_keys import hint, hinted_keys, suggestion, value_hint
from smspec.spec.shape.schema_errors import choice_meant
from support.small_job import READY
from support.spec.job_documents import BUILT_JOB, merged_text, reported, with_key


@pytest.mark.parametrize(
    ("line", "path", "message", "label"),
    [
        (
            "hosts: {instance_typ: x}",
            "hosts.instance_typ",
            "unknown key `instance_typ` in `hosts`",
            "did you mean `instance_type`?",
        ),
        (
            "hosts: {InstanceType: x}",
            "hosts.InstanceType",
            "unknown key `InstanceType` in `hosts`",
            "did you mean `instance_type`?",
        ),
        ("instance_type: x", "instance_type", "unknown key `instance_type`", "did you mean `hosts.instance_type`?"),
        ("hosts: {tags: {a: b}}", "hosts.tags", "unknown key `tags` in `hosts`", "did you mean `tags`?"),
        ("qqq: 1", "qqq", "unknown key `qqq`", ""),
        ("resources: {}", "resources", "unknown key `resources`", "use `hosts`"),
        ("num_nodes: 2", "num_nodes", "unknown key `num_nodes`", "use `hosts.count`"),
        ("inputs: {}", "inputs", "unknown key `inputs`", "use `channels`"),
        ("workdir: .", "workdir", "unknown key `workdir`", "use `source`"),
        ("env: {}", "env", "unknown key `env`", "use `environment`"),
        ("instance_count: 2", "instance_count", "unknown key `instance_count`", "use `hosts.count`"),
        (
            "hosts: {instance_count: 2}",
            "hosts.instance_count",
            "unknown key `instance_count` in `hosts`",
            "use `count`",
        ),
        ("InstanceType: x", "InstanceType", "unknown key `InstanceType`", "use `hosts.instance_type`"),
        ("TrainingInputMode: x", "TrainingInputMode", "unknown key `TrainingInputMode`", "use `input_mode`"),
        ("RemoteDebugConfig: {}", "RemoteDebugConfig", "unknown key `RemoteDebugConfig`", "move it to `api`"),
        (
            "channels: {a: {s3: s3://a/b, sharding: x}}",
            "channels.a.sharding",
            "unknown key `sharding` in `channels.a`",
            "use `distribution`",
        ),
        (
            "output: {s3: s3://a/b, CompressionType: GZIP}",
            "output.CompressionType",
            "unknown key `CompressionType` in `output`",
            "use `compression`",
        ),
        (
            "distribution: torchrn",
            "distribution.torchrn",
            "unknown key `torchrn` in `distribution`",
            "did you mean `torchrun`?",
        ),
        (
            "distribution: pytorchddp",
            "distribution.pytorchddp",
            "unknown key `pytorchddp` in `distribution`",
            "use `torchrun`",
        ),
    ],
)
def test_unknown_key_is_reported(line, path, message, label):
    assert reported(with_key(line)) == [("SM204", tuple(path.split(".")), message, label)]


def test_key_of_another_tool_names_the_tool():
    (finding,) = shape_findings(merged_text(with_key("num_nodes: 2")))
    assert finding.help == "rename it: `num_nodes` is a key of SkyPilot"
    assert finding.on == "key"


def test_few_keys_are_listed_without_a_near_name():
    (finding,) = shape_findings(merged_text(with_key("metrics: [{name: loss, regex: a, zzz: b}]")))
    assert (finding.message, finding.help) == ("unknown key `zzz` in `metrics[0]`", "use `name` or `regex`")
    (finding,) = shape_findings(merged_text(with_key("zzz: 1")))
    assert (finding.message, finding.help) == ("unknown key `zzz`", "")


@pytest.mark.parametrize("key", ["name", "role", "output", "image", "hosts", "smspec"])
def test_missing_key_of_a_job_is_reported(key):
    text = "".join(f"{line}\n" for line in READY.splitlines() if not line.startswith(f"{key}:"))
    assert reported(text) == [("SM202", (key,), f"missing key `{key}`", "")]


@pytest.mark.parametrize(
    "api",
    [
        "api: {AlgorithmSpecification: {AlgorithmName: linear-learner}}",
        "api: {ServerlessJobConfig: {JobType: FineTuning}}",
    ],
)
def test_api_members_replace_image_and_hosts(api):
    text = "".join(f"{line}\n" for line in READY.splitlines() if not line.startswith(("image:", "hosts:")))
    assert reported(text + api + "\n") == []


def test_built_image_needs_an_entry_point():
    text = "".join(f"{line}\n" for line in BUILT_JOB.splitlines() if not line.startswith("entry_point:"))
    assert reported(text) == [("SM202", ("entry_point",), "missing key `entry_point`", "")]


def test_missing_key_of_a_mapping_is_reported():
    text = with_key("metrics: [{name: loss}]")
    assert reported(text) == [("SM202", ("metrics", 0, "regex"), "missing key `regex` in `metrics[0]`", "")]
    text = with_key("output: {kms_key: x}")
    assert reported(text) == [("SM202", ("output", "s3"), "missing key `s3` in `output`", "")]


@pytest.mark.parametrize(
    ("line", "findings"),
    [
        (
            "entry_point: {args: [a]}",
            [
                (
                    "SM202",
                    "entry_point",
                    "missing key in `entry_point`: `script`, `command`, `module`, or `pipe_loop`",
                )
            ],
        ),
        (
            "channels: {a: {content_type: text/csv}}",
            [("SM202", "channels.a", "missing key in `channels.a`: `s3` or `file_system`")],
        ),
        (
            "entry_point: {script: a.py, module: 'a:b'}",
            [("SM209", "entry_point.module", "`entry_point.script` cannot be combined with `module`")],
        ),
        (
            "channels: {a: {s3: s3://a/b, file_system: {id: fs-12345678, type: EFS, path: /, access: ro}}}",
            [("SM209", "channels.a.file_system", "`channels.a.s3` cannot be combined with `file_system`")],
        ),
        (
            "distribution: {mpi: {}, torchrun: {}}",
            [("SM209", "distribution.torchrun", "`distribution.mpi` cannot be combined with `torchrun`")],
        ),
        (
            "entry_point: {script: a.py, epochs: 5}",
            [("SM210", "entry_point.epochs", "`entry_point.epochs` requires `pipe_loop`")],
        ),
        (
            "entry_point: {module: 'a:b', args: [x]}",
            [("SM210", "entry_point.args", "`entry_point.args` requires `script`")],
        ),
        (
            "entry_point: {module: 'a:b', args_style: json}",
            [("SM209", "entry_point.args_style", "`entry_point.module` cannot be combined with `args_style`")],
        ),
    ],
)
def test_incompatible_keys_are_reported(line, findings):
    assert [(code, ".".join(path), message) for code, path, message, _ in reported(with_key(line))] == findings


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("hosts: {instance_type: x, groups: [{nam: a, instance_type: x, count: 1}]}", ("hosts", "groups", 0, "nam")),
        ("outputs: s3://a/b", ("outputs",)),
        ("entry_point: {scrpt: a.py}", ("entry_point", "scrpt")),
        ("entry_point: {pipeloop: 'a:b', epochs: 3}", ("entry_point", "pipeloop")),
        ("channels: {a: {S3Uri: s3://a/b}}", ("channels", "a", "S3Uri")),
    ],
)
def test_misspelled_key_is_not_also_missing(line, path):
    text = with_key(line)
    if line.startswith("outputs"):
        text = text.replace("output: s3://models/small/\n", "")
    assert [(code, where) for code, where, _, _ in reported(text)] == [("SM204", path)]


@pytest.mark.parametrize(
    ("line", "path", "help"),
    [
        ("distribution: none", "distribution.none", "`torchrun`, `mpi`, `parameter_server`, or `smdataparallel`"),
        ("channels: {a: {qqq: x}}", "channels.a.qqq", "`s3` or `file_system`"),
    ],
)
def test_wrong_alternative_is_one_fault(line, path, help):
    (finding,) = shape_findings(merged_text(with_key(line)))
    assert (finding.path, finding.help) == (tuple(path.split(".")), f"use {help}")


def test_misplaced_key_is_not_also_missing():
    text = READY.replace("hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}", "instance_type: ml.m5.large")
    assert [(code, where) for code, where, _, _ in reported(text)] == [("SM204", ("instance_type",))]


PROMISED = 0.9


def slips(word, random_source):
    """Return texts that differ from ``word`` by one letter: left out, doubled, changed, added, or two swapped."""
    letters = string.ascii_lowercase + "_"
    found = []
    for place in range(len(word)):
        found.append(word[:place] + word[place + 1 :])
        found.append(word[:place] + random_source.choice(letters) + word[place + 1 :])
        found.append(word[:place] + random_source.choice(letters) + word[place:])
        found.append(word[:place] + word[place] + word[place:])
        found.append(word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :])
    return [slip for slip in dict.fromkeys(found) if slip and slip != word]


def place_of(mapping):
    """Return a path that leads to a mapping of the spec: a name, or the first item, for every `*`."""
    path = ()
    for step in mapping:
        is_item = "array" in str(spec_keys()[key_path(path)].get("type")) if step == "*" else False
        path = (*path, 0 if is_item else "some-name" if step == "*" else step)
    return path


def test_unknown_keys_suggest_the_nearest():
    random_source = random.Random(1)
    right, wrong = 0, []
    for key in spec_keys():
        *mapping, name = key
        if name == "*":
            continue
        others = set(keys_in(tuple(mapping)))
        for slip in slips(name, random_source):
            if slip in others:
                continue
            guess = suggestion(slip, place_of(mapping))
            if guess and guess.key == key:
                right += 1
            else:
                wrong.append((written_key(key), slip, guess and written_key(guess.key)))
    assert right / (right + len(wrong)) >= PROMISED, wrong
    assert right > 3000


def test_unknown_choices_suggest_the_nearest():
    random_source = random.Random(2)
    right, wrong = 0, []
    for schema in spec_keys().values():
        allowed = choices(schema)
        for value in allowed:
            for slip in slips(value, random_source):
                if slip in allowed:
                    continue
                guess = choice_meant(slip, allowed)
                if guess == value:
                    right += 1
                else:
                    wrong.append((value, slip, guess))
    assert right / (right + len(wrong)) >= PROMISED, wrong
    assert right > 500


def test_choice_in_another_case_is_suggested():
    for schema in spec_keys().values():
        for value in choices(schema):
            for other in (value.upper(), value.lower(), value.title()):
                if other not in choices(schema):
                    assert choice_meant(other, choices(schema)) == value


def test_hints_lead_to_existing_keys():
    hints = [(word, key) for word, keys in hinted_keys().items() for key in keys]
    assert [(word, key) for word, key in hints if tuple(key.split(".")) not in spec_keys()] == []


def test_hinted_keys_are_not_keys_themselves():
    at_the_top = set(keys_in(()))
    assert not set(hinted_keys()) & at_the_top


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
WORDS = sorted({word for words in TOOLS.values() for word in words.split()})
OURS = {key[-1] for key in spec_keys()}


def test_keys_of_other_tools_get_a_hint():
    for word in WORDS:
        if (word,) in spec_keys():
            continue  # it is ours too, at the same place
        meant = suggestion(word, ())
        if meant is not None:
            assert meant.key in spec_keys(), word
            continue
        # Ours, but it stands in so many places that only a hint could pick one.
        assert word in OURS
        assert any(suggestion(word, place) for place in (("distribution",), ("channels", "x", "file_system"))), word


def test_list_of_hints_is_long():
    assert len(WORDS) > 330
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
