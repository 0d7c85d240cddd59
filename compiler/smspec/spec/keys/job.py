"""Keys of the job itself: its names, account, metrics, and tags, `api`, and the layers of a spec."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import (
    ANYONE,
    API,
    AZURE,
    FRACTION,
    KUBERNETES,
    PATCH,
    SAGIFY,
    SDK,
    SKYPILOT,
    TEXT,
    UNREAD,
    WRITTEN_MAP,
    Row,
    StructureForm,
    StructureListForm,
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
