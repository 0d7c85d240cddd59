"""The debugger and the profiler."""

import pytest

from smspec.service.request_rules import request_findings
from support.service.api_samples import changed
from support.service.request_cases import request_tests

EVALUATOR = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
HOOK = {"S3OutputPath": "s3://example-models/debugger/"}
PROFILER = {"S3OutputPath": "s3://example-models/profiler/"}


def rules(*names):
    return [{"RuleConfigurationName": name, "RuleEvaluatorImage": EVALUATOR} for name in names]


def debugged(*names, hook=None):
    return changed(DebugHookConfig=HOOK | (hook or {}), DebugRuleConfigurations=rules(*names) or None)


def profiled(**members):
    return changed(ProfilerConfig=PROFILER | members)


def collections(*names):
    return {"CollectionConfigurations": [{"CollectionName": name} for name in names]}


def on_trainium(**members):
    return changed(
        ProfilerConfig=PROFILER | members, ResourceConfig={"InstanceType": "ml.trn1.2xlarge", "InstanceCount": 1}
    )


INTERVAL = ("ProfilerConfig", "ProfilingIntervalInMilliseconds")
PARAMETERS = ("ProfilerConfig", "ProfilingParameters")

REPORTED = [
    (debugged("a", "b", "a"), "SM472", ("DebugRuleConfigurations", 2, "RuleConfigurationName")),
    (
        changed(
            DebugHookConfig=HOOK,
            ProfilerConfig=PROFILER,
            DebugRuleConfigurations=rules("a"),
            ProfilerRuleConfigurations=rules("b", "a"),
        ),
        "SM472",
        ("ProfilerRuleConfigurations", 1, "RuleConfigurationName"),
    ),
    (
        debugged(hook=collections("losses", "losses")),
        "SM473",
        ("DebugHookConfig", "CollectionConfigurations", 1, "CollectionName"),
    ),
    (profiled(ProfilingIntervalInMilliseconds=300), "SM474", INTERVAL),
    (profiled(ProfilingIntervalInMilliseconds=0), "SM474", INTERVAL),
    (profiled(ProfilingParameters={"profile_cpu": "true"}), "SM364", (*PARAMETERS, "profile_cpu")),
    (
        changed(ProfilerConfig={"DisableProfiler": True}, ProfilerRuleConfigurations=rules("a")),
        "SM365",
        ("ProfilerRuleConfigurations",),
    ),
    (changed(DebugRuleConfigurations=rules("a")), "SM366", ("DebugRuleConfigurations",)),
    (changed(ProfilerRuleConfigurations=rules("a")), "SM367", ("ProfilerRuleConfigurations",)),
    (on_trainium(), "SM368", ("ProfilerConfig",)),
    (debugged(*"abcde"), "SM416", ("DebugRuleConfigurations",)),
    (
        debugged(*"abc") | {"ProfilerConfig": PROFILER, "ProfilerRuleConfigurations": rules("d", "e")},
        "SM416",
        ("DebugRuleConfigurations",),
    ),
]

ACCEPTED = [
    debugged(*"abcd"),
    debugged(hook=collections("losses", "metrics")),
    debugged(hook={"CollectionConfigurations": []}),
    *(profiled(ProfilingIntervalInMilliseconds=interval) for interval in (100, 200, 500, 1000, 5000, 60_000)),
    profiled(ProfilingParameters={"DataloaderProfilingConfig": "{}", "LocalPath": "/opt/ml/output/profiler/"}),
    profiled(ProfilingParameters={"DataLoaderProfilingConfig": "{}", "DetailedProfilingConfig": "{}"}),
    profiled(DisableProfiler=True),
    changed(ProfilerConfig=PROFILER, ProfilerRuleConfigurations=rules("a")),
    on_trainium(DisableProfiler=True),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


CHINESE = "arn:aws-cn:iam::111122223333:role/SageMakerTraining"


@pytest.mark.parametrize(
    ("region", "role", "is_refused"),
    [
        ("cn-northwest-1", CHINESE, True),
        ("cn-north-1", CHINESE, True),
        (None, CHINESE, True),
        ("us-west-2", None, False),
        (None, None, False),
    ],
)
def test_profiler_is_rejected_in_china(region, role, is_refused):
    request = profiled() | ({"RoleArn": role} if role else {})
    found = [
        (found.code, found.path)
        for found in request_findings(request, region=region)
        if found.code not in ("SM371", "SM478")
    ]
    assert found == ([("SM475", ("ProfilerConfig",))] if is_refused else [])
