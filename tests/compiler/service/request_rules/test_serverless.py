"""ServerlessJobConfig and ModelPackageConfig."""

from support.service.api_samples import ARN, HUB, changed, small_request
from support.service.request_cases import request_tests

TUNING = {"BaseModelArn": f"{HUB}/Model/sample", "JobType": "FineTuning", "CustomizationTechnique": "SFT"}
EVALUATION = {"BaseModelArn": f"{HUB}/Model/sample", "JobType": "Evaluation", "EvaluationType": "LLMAJEvaluation"}
PACKAGE = {"ModelPackageGroupArn": f"{ARN}:model-package-group/group"}
HERE = "ServerlessJobConfig"


def serverless(config=TUNING, **parts):
    absent = {"AlgorithmSpecification": None, "ResourceConfig": None, "StoppingCondition": None}
    return changed(**(absent | {HERE: config} | parts))


def without(config, name):
    return {key: value for key, value in config.items() if key != name}


S3 = {"S3OutputPath": "s3://example-models/x/"}
RULE = {"RuleConfigurationName": "report", "RuleEvaluatorImage": "895741380848.dkr.ecr.us-west-2.amazonaws.com/rules:1"}
EXCLUDED = {
    "AlgorithmSpecification": small_request()["AlgorithmSpecification"],
    "EnableManagedSpotTraining": True,
    "Environment": {"A": "1"},
    "RetryStrategy": {"MaximumRetryAttempts": 2},
    "CheckpointConfig": {"S3Uri": "s3://example-models/checkpoints/"},
    "DebugHookConfig": S3,
    "ExperimentConfig": {"ExperimentName": "clicks"},
    "ProfilerConfig": S3,
    "ProfilerRuleConfigurations": [RULE],
    "TensorBoardOutputConfig": S3,
}

REPORTED = [
    *((serverless(**{name: value}), "SM479", (name,)) for name, value in EXCLUDED.items()),
    (serverless(without(EVALUATION, "EvaluationType")), "SM480", (HERE, "EvaluationType")),
    (serverless(ResourceConfig={"VolumeSizeInGB": 5}), "SM481", ("ResourceConfig", "VolumeSizeInGB")),
    (changed(ModelPackageConfig=PACKAGE), "SM482", ("ModelPackageConfig",)),
    (serverless(TUNING | {"EvaluationType": "LLMAJEvaluation"}), "SM372", (HERE, "EvaluationType")),
    (serverless(EVALUATION | {"Peft": "LORA"}), "SM372", (HERE, "Peft")),
    (serverless(EVALUATION | {"CustomizationTechnique": "SFT"}), "SM372", (HERE, "CustomizationTechnique")),
    (serverless(without(TUNING, "CustomizationTechnique")), "SM373", (HERE, "CustomizationTechnique")),
    (serverless(TUNING | {"AcceptEula": False}), "SM374", (HERE, "AcceptEula")),
]

ACCEPTED = [
    serverless(),
    serverless(EVALUATION),
    serverless(TUNING | {"Peft": "LORA", "AcceptEula": True}),
    serverless(EnableManagedSpotTraining=False),
    serverless(StoppingCondition={"MaxRuntimeInSeconds": 3600}),
    serverless(ModelPackageConfig=PACKAGE),
    serverless(ResourceConfig={"VolumeSizeInGB": 0}),
    serverless(DebugRuleConfigurations=[RULE]),  # it may have no hook, so none is asked for
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)
