"""The table of keys: one row for each key of the spec, in the order of docs/spec-reference.md.

A `Row` has the path of a key, the form of its value, the member of the request, its kind of change, and its names in
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
    NamedForm,
    Row,
    StructureForm,
    StructureListForm,
    ValueForm,
    word,
)

FIRST: tuple[Row, ...] = (
    Row("smspec", UNREAD, group="job", words={AZURE: "$schema", KUBERNETES: "apiVersion kind"}),
    Row(
        "name",
        TEXT,
        kind="restart",
        group="job",
        words={SDK: "base_job_name", AZURE: "experiment_name", KUBERNETES: "metadata"},
    ),
    Row("description", TEXT, kind="cosmetic", words={AZURE: "display_name"}),
    Row(
        "role",
        TEXT,
        "RoleArn",
        kind="security",
        called="role",
        group="job",
        words={AZURE: "identity", KUBERNETES: "serviceAccountName serviceAccount", SAGIFY: "iam_role_arn"},
    ),
    Row(
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
    Row("account", TEXT, kind="security"),
)

LAST: tuple[Row, ...] = (
    Row(
        "metrics",
        StructureListForm(model.Metric),
        "AlgorithmSpecification.MetricDefinitions",
        kind="other",
        called="metrics",
        group="metrics",
        words={AZURE: "objective", SAGIFY: "metric_names"},
    ),
    Row("metrics.*.name", TEXT, "AlgorithmSpecification.MetricDefinitions.*.Name", kind="other"),
    Row("metrics.*.regex", TEXT, "AlgorithmSpecification.MetricDefinitions.*.Regex", kind="other"),
    Row(
        "tags",
        WRITTEN_MAP,
        "Tags",
        kind="other",
        called="tag",
        group="tags",
        irregular=True,
        words={API: "Key Value", AZURE: "properties", KUBERNETES: "annotations", SAGIFY: "aws_tags"},
    ),
    Row("job_name", TEXT, "TrainingJobName", kind="job", called="name of the job", group="job_name", irregular=True),
    Row(
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
    Row("extends", UNREAD, words={KUBERNETES: "template", ANYONE: "include"}),
    Row("vars", UNREAD, kind="cosmetic", group="vars", words={ANYONE: "variables"}),
    Row("overlays", UNREAD, kind="cosmetic", words={ANYONE: "profiles"}),
    Row("rehearsal", StructureForm(model.Rehearsed), kind="cosmetic"),
    Row("rehearsal.tolerance", FRACTION, kind="cosmetic"),
    Row("checks", UNREAD, kind="cosmetic"),
    Row("checks.ignore", StructureListForm(model.IgnoredCheck)),
    Row("checks.ignore.*.rule", TEXT),
    Row("checks.ignore.*.at", TEXT),
    Row("checks.ignore.*.because", TEXT),
)


IMAGE: tuple[Row, ...] = (
    Row(
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
    Row(
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
    Row("image.platform", TEXT, kind="image"),
    Row("image.python_packages", TEXTS, kind="image", words={ANYONE: "pip packages"}),
    Row("image.system_packages", TEXTS, kind="image", words={ANYONE: "apt packages"}),
    Row(
        "image.python_requirements",
        TEXT,
        kind="image",
        words={SDK: "requirements requirements_file", AZURE: "conda_file", SAGIFY: "requirements_dir"},
    ),
    Row("image.env", WRITTEN_MAP, kind="image"),
    Row("image.env_prepend", WRITTEN_MAP, kind="image"),
    Row("image.build_args", WRITTEN_MAP, kind="image", words={ANYONE: "args buildargs"}),
    Row("image.pre_install", TEXTS, kind="image"),
    Row("image.run", TEXTS, kind="image", words={SKYPILOT: "setup", KUBERNETES: "initContainers"}),
    Row("image.user", TEXT, kind="image"),
    Row("image.repository", TEXT, kind="image"),
    Row("image.labels", WRITTEN_MAP, kind="image"),
    Row("image.secrets", NamedForm(model.BuildSecret), kind="image"),
    Row("image.secrets.*.env", TEXT, kind="image"),
    Row("image.secrets.*.file", TEXT, kind="image"),
    Row(
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
    Row("source.dir", TEXT, kind="code"),
    Row("source.delivery", word(model.Delivery), kind="code"),
    Row("source.s3", TEXT, kind="code", words={SDK: "code_location"}),
    Row("source.kms_key", TEXT, kind="security"),
    Row("source.ignore", TEXTS, kind="code", words={SDK: "ignore_patterns"}),
    Row(
        "entry_point",
        ChoiceForm(tuple(model.ENTRY_POINTS.values()), short="script"),
        kind="image",
        group="image",
        words={SDK: "script_mode", AZURE: "trial", COG: "predict train", ANYONE: "program main"},
    ),
    Row("entry_point.script", TEXT, kind="image", words={SDK: "entry_script py_file"}),
    Row("entry_point.args", WRITTEN_TEXTS, kind="image", words={API: "ContainerArguments"}),
    Row("entry_point.args_style", word(model.ArgsStyle), kind="image"),
    Row(
        "entry_point.command",
        WRITTEN_TEXTS,
        "AlgorithmSpecification.ContainerEntrypoint",
        kind="security",
        called="container entrypoint",
        irregular=True,
        words={SDK: "container_entry_point", AZURE: "command", ANYONE: "cmd"},
    ),
    Row("entry_point.module", TEXT, kind="image", words={ANYONE: "function"}),
    Row("entry_point.pipe_loop", TEXT, kind="image", words={ANYONE: "handler"}),
    Row("entry_point.epochs", COUNT, kind="data"),
    Row("entry_point.read", WORDS_BY_NAME, kind="data"),
    Row("entry_point.prefetch", SIZE, kind="data"),
    Row("entry_point.open_timeout", DURATION, kind="data"),
)


PARAMETERS: tuple[Row, ...] = (
    Row(
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
    Row("hyperparameter_encoding", word(model.HyperparameterEncoding), kind="hyperparameters", group="parameters"),
    Row(
        "environment",
        WRITTEN_MAP,
        "Environment",
        kind="environment",
        called="environment variable",
        group="parameters",
        words={
            SDK: "environment_variables container_log_level",
            SKYPILOT: "envs",
            KUBERNETES: "env envFrom configMap",
        },
    ),
    Row("secrets", WORDS_BY_NAME, kind="security", group="parameters", words={KUBERNETES: "secret secretKeyRef"}),
)


ROWS: tuple[Row, ...] = (
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
ROW: dict[str, Row] = {row.path: row for row in ROWS}


@lru_cache(maxsize=1)
def _below() -> dict[str, tuple[Row, ...]]:
    found: dict[str, list[Row]] = {}
    for row in ROWS:
        found.setdefault(row.path.rpartition(".")[0], []).append(row)
    return {path: tuple(rows) for path, rows in found.items()}


def rows_below(path: str) -> tuple[Row, ...]:
    """Return the rows of the keys directly below a key; those of a whole job for an empty path."""
    return _below().get(path, ())


@lru_cache(maxsize=1)
def rows_by_member() -> dict[Path, tuple[Row, ...]]:
    """Return the rows for each place of a request.

    A structure of which only one member has a key, such as RetryStrategy, belongs to that key as a whole.
    """
    members: dict[Path, list[Row]] = {}
    around: dict[Path, list[Row]] = {}
    for row in ROWS:
        if row.member:
            members.setdefault(row.steps, []).append(row)
            around.setdefault(row.steps[:-1], []).append(row)
    for structure, rows in around.items():
        is_one = len(rows) == 1 and isinstance(rows[0].form, ValueForm)
        if is_one and structure and structure not in members and structure[-1] != "*":
            members[structure] = rows
    return {path: tuple(rows) for path, rows in members.items()}
