"""The table of keys: one row for each key of the spec, in the order of docs/spec-reference.md.

A `KeyRow` has the path of a key, the form of its value, the member of the request, its kind of change, and its names in
other tools. Code that reads, sends, imports, compares, or explains keys uses the table; what is irregular about a key
is a function there. The table must not know how a request or a plan is made: a row only names the member.
"""

from __future__ import annotations

from functools import lru_cache

from smspec.source import Path
from smspec.spec import model
from smspec.spec.keys import data, hosts
from smspec.spec.keys.row import (
    ANYONE,
    API,
    AZURE,
    COG,
    COUNT,
    DURATION,
    FRACTION,
    KUBERNETES,
    PATCH,
    SAGIFY,
    SDK,
    SIZE,
    SKYPILOT,
    TEXT,
    TEXTS,
    TYPED_MAP,
    UNREAD,
    WORDS_BY_NAME,
    WRITTEN_MAP,
    WRITTEN_TEXTS,
    ChoiceForm,
    KeyRow,
    NamedForm,
    StructureForm,
    StructureListForm,
    ValueForm,
    word,
)

FIRST: tuple[KeyRow, ...] = (
    KeyRow("smspec", UNREAD, group="job", words={AZURE: "$schema", KUBERNETES: "apiVersion kind"}),
    KeyRow(
        "name",
        TEXT,
        kind="restart",
        group="job",
        words={SDK: "base_job_name", AZURE: "experiment_name", KUBERNETES: "metadata"},
    ),
    KeyRow("description", TEXT, kind="cosmetic", words={AZURE: "display_name"}),
    KeyRow(
        "role",
        TEXT,
        "RoleArn",
        kind="security",
        called="role",
        group="job",
        words={AZURE: "identity", KUBERNETES: "serviceAccountName serviceAccount", SAGIFY: "iam_role_arn"},
    ),
    KeyRow(
        "region",
        TEXT,
        kind="hosts",
        group="job",
        words={
            SDK: "image_uri_region sagemaker_session",
            SKYPILOT: "cloud infra zone",
            AZURE: "locations",
            SAGIFY: "aws_region",
        },
    ),
    KeyRow("account", TEXT, kind="security"),
)

LAST: tuple[KeyRow, ...] = (
    KeyRow(
        "metrics",
        StructureListForm(model.Metric),
        "AlgorithmSpecification.MetricDefinitions",
        kind="other",
        called="metrics",
        group="metrics",
        words={AZURE: "objective", SAGIFY: "metric_names"},
    ),
    KeyRow("metrics.*.name", TEXT, "AlgorithmSpecification.MetricDefinitions.*.Name", kind="other"),
    KeyRow("metrics.*.regex", TEXT, "AlgorithmSpecification.MetricDefinitions.*.Regex", kind="other"),
    KeyRow(
        "tags",
        WRITTEN_MAP,
        "Tags",
        kind="other",
        called="tag",
        group="tags",
        irregular=True,
        words={API: "Key Value", AZURE: "properties", KUBERNETES: "annotations", SAGIFY: "aws_tags"},
    ),
    KeyRow("job_name", TEXT, "TrainingJobName", kind="job", called="name of the job", group="job_name", irregular=True),
    KeyRow(
        "api",
        PATCH,
        kind="security",
        group="api",
        words={
            API: (
                "AlgorithmName TrainingImageConfig InstancePlacementConfig InstancePreferences DebugHookConfig "
                "DebugRuleConfigurations ProfilerConfig ProfilerRuleConfigurations ExperimentConfig "
                "RemoteDebugConfig InfraCheckConfig SessionChainingConfig ServerlessJobConfig MlflowConfig "
                "ModelPackageConfig BaseModelArn CollectionConfigurations CollectionName CollectionParameters "
                "CustomizationTechnique DisableProfiler EnableInfraCheck EnableMultipleJobs EnableRemoteDebug "
                "EnableSageMakerMetricsTimeSeries EnableSessionTagChaining EvaluationType EvaluatorArn "
                "ExperimentName HookParameters RuleParameters JobType MlflowExperimentName MlflowResourceArn "
                "MlflowRunName ModelPackageGroupArn Peft PlacementSpecifications ProfilingIntervalInMilliseconds "
                "ProfilingParameters RuleConfigurationName RuleEvaluatorImage RunName SelectedInstanceCount "
                "SelectedInstanceType SequenceLength SourceModelPackageArn TrainingRepositoryAccessMode "
                "TrainingRepositoryAuthConfig TrainingRepositoryCredentialsProviderArn TrialComponentDisplayName "
                "TrialName UltraServerId"
            ),
            SDK: (
                "debugger_hook_config rules enable_sagemaker_metrics disable_profiler "
                "training_repository_access_mode training_repository_credentials_provider_arn enable_infra_check "
                "enable_remote_debug enable_session_tag_chaining"
            ),
            KUBERNETES: "spec imagePullSecrets",
        },
    ),
    KeyRow("extends", UNREAD, words={KUBERNETES: "template", ANYONE: "include"}),
    KeyRow("vars", UNREAD, kind="cosmetic", group="vars", words={ANYONE: "variables"}),
    KeyRow("overlays", UNREAD, kind="cosmetic", words={ANYONE: "profiles"}),
    KeyRow("rehearsal", StructureForm(model.Rehearsed), kind="cosmetic"),
    KeyRow("rehearsal.tolerance", FRACTION, kind="cosmetic"),
    KeyRow("checks", UNREAD, kind="cosmetic"),
    KeyRow("checks.ignore", StructureListForm(model.IgnoredCheck)),
    KeyRow("checks.ignore.*.rule", TEXT),
    KeyRow("checks.ignore.*.at", TEXT),
    KeyRow("checks.ignore.*.because", TEXT),
)


IMAGE: tuple[KeyRow, ...] = (
    KeyRow(
        "image",
        ChoiceForm((model.BuiltImage,)),
        "AlgorithmSpecification.TrainingImage",
        kind="image",
        called="image",
        group="image",
        irregular=True,
        words={
            API: "AlgorithmSpecification",
            SDK: "image_uri image_name",
            SKYPILOT: "image_id",
            AZURE: "docker_args",
            KUBERNETES: "containers imagePullPolicy",
            COG: "build",
            ANYONE: "dockerfile docker",
        },
    ),
    KeyRow(
        "image.base",
        TEXT,
        kind="image",
        words={
            SDK: "framework_version py_version transformers_version tensorflow_version pytorch_version",
            COG: "gpu cuda cudnn python_version",
            SAGIFY: "docker_image_base_url",
            ANYONE: "from",
        },
    ),
    KeyRow("image.platform", TEXT, kind="image"),
    KeyRow("image.python_packages", TEXTS, kind="image", words={ANYONE: "pip packages"}),
    KeyRow("image.system_packages", TEXTS, kind="image", words={ANYONE: "apt packages"}),
    KeyRow(
        "image.python_requirements",
        TEXT,
        kind="image",
        words={SDK: "requirements requirements_file", AZURE: "conda_file", SAGIFY: "requirements_dir"},
    ),
    KeyRow("image.env", WRITTEN_MAP, kind="image"),
    KeyRow("image.env_prepend", WRITTEN_MAP, kind="image"),
    KeyRow("image.build_args", WRITTEN_MAP, kind="image", words={ANYONE: "args buildargs"}),
    KeyRow("image.pre_install", TEXTS, kind="image"),
    KeyRow("image.run", TEXTS, kind="image", words={SKYPILOT: "setup", KUBERNETES: "initContainers"}),
    KeyRow("image.user", TEXT, kind="image"),
    KeyRow("image.repository", TEXT, kind="image"),
    KeyRow("image.labels", WRITTEN_MAP, kind="image"),
    KeyRow("image.secrets", NamedForm(model.BuildSecret), kind="image"),
    KeyRow("image.secrets.*.env", TEXT, kind="image"),
    KeyRow("image.secrets.*.file", TEXT, kind="image"),
    KeyRow(
        "source",
        StructureForm(model.Source, short="dir"),
        kind="code",
        words={
            SDK: "source_dir source_code dependencies git_config",
            SKYPILOT: "workdir",
            AZURE: "code",
            KUBERNETES: "workingDir",
            SAGIFY: "sagify_module_dir",
        },
    ),
    KeyRow("source.dir", TEXT, kind="code"),
    KeyRow("source.delivery", word(model.Delivery), kind="code"),
    KeyRow("source.s3", TEXT, kind="code", words={SDK: "code_location"}),
    KeyRow("source.kms_key", TEXT, kind="security"),
    KeyRow("source.ignore", TEXTS, kind="code", words={SDK: "ignore_patterns"}),
    KeyRow(
        "entry_point",
        ChoiceForm(tuple(model.ENTRY_POINTS.values()), short="script"),
        kind="image",
        group="image",
        words={SDK: "script_mode", AZURE: "trial", COG: "predict train", ANYONE: "program main"},
    ),
    KeyRow("entry_point.script", TEXT, kind="image", words={SDK: "entry_script py_file"}),
    KeyRow("entry_point.args", WRITTEN_TEXTS, kind="image", words={API: "ContainerArguments"}),
    KeyRow("entry_point.args_style", word(model.ArgsStyle), kind="image"),
    KeyRow(
        "entry_point.command",
        WRITTEN_TEXTS,
        "AlgorithmSpecification.ContainerEntrypoint",
        kind="security",
        called="container entrypoint",
        irregular=True,
        words={SDK: "container_entry_point", AZURE: "command", ANYONE: "cmd"},
    ),
    KeyRow("entry_point.module", TEXT, kind="image", words={ANYONE: "function"}),
    KeyRow("entry_point.pipe_loop", TEXT, kind="image", words={ANYONE: "handler"}),
    KeyRow("entry_point.epochs", COUNT, kind="data"),
    KeyRow("entry_point.read", WORDS_BY_NAME, kind="data"),
    KeyRow("entry_point.prefetch", SIZE, kind="data"),
    KeyRow("entry_point.open_timeout", DURATION, kind="data"),
)


PARAMETERS: tuple[KeyRow, ...] = (
    KeyRow(
        "hyperparameters",
        TYPED_MAP,
        "HyperParameters",
        kind="hyperparameters",
        called="hyperparameter",
        group="parameters",
        irregular=True,
        words={
            SDK: "compiler_config training_recipe recipe_overrides",
            AZURE: "search_space",
            SAGIFY: "hyperparams_file",
            ANYONE: "hparams hyperparams params parameters",
        },
    ),
    KeyRow("hyperparameter_encoding", word(model.HyperparameterEncoding), kind="hyperparameters", group="parameters"),
    KeyRow(
        "environment",
        WRITTEN_MAP,
        "Environment",
        kind="environment",
        called="environment variable",
        group="parameters",
        words={SDK: "environment_variables container_log_level", SKYPILOT: "envs", KUBERNETES: "env envFrom configMap"},
    ),
    KeyRow("secrets", WORDS_BY_NAME, kind="security", group="parameters", words={KUBERNETES: "secret secretKeyRef"}),
)


ROWS: tuple[KeyRow, ...] = (
    *FIRST,
    *IMAGE,
    *data.CHANNELS,
    *hosts.HOSTS,
    *PARAMETERS,
    *hosts.LIMITS,
    *data.RESULTS,
    *hosts.NETWORK,
    *LAST,
)
ROW: dict[str, KeyRow] = {row.path: row for row in ROWS}


@lru_cache(maxsize=1)
def _below() -> dict[str, tuple[KeyRow, ...]]:
    found: dict[str, list[KeyRow]] = {}
    for row in ROWS:
        found.setdefault(row.path.rpartition(".")[0], []).append(row)
    return {path: tuple(rows) for path, rows in found.items()}


def rows_below(path: str) -> tuple[KeyRow, ...]:
    """Return the rows of the keys directly below a key; those of a whole job for an empty path."""
    return _below().get(path, ())


@lru_cache(maxsize=1)
def rows_by_member() -> dict[Path, tuple[KeyRow, ...]]:
    """Return the rows for each place of a request.

    A structure of which only one member has a key, such as RetryStrategy, belongs to that key as a whole.
    """
    members: dict[Path, list[KeyRow]] = {}
    around: dict[Path, list[KeyRow]] = {}
    for row in ROWS:
        if row.member:
            members.setdefault(row.steps, []).append(row)
            around.setdefault(row.steps[:-1], []).append(row)
    for structure, rows in around.items():
        is_one = len(rows) == 1 and isinstance(rows[0].form, ValueForm)
        if is_one and structure and structure not in members and structure[-1] != "*":
            members[structure] = rows
    return {path: tuple(rows) for path, rows in members.items()}
