"""ServerlessJobConfig and ModelPackageConfig."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.arns import parsed_arn
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.shapes import number, pinned_model, structure

BASE_MODEL_OF_A_PRIVATE_HUB = Rule("SM823", "base model of a private hub", evidence="third-party")

_PUBLIC_HUB = "SageMakerPublicHub"


def base_model_of_a_private_hub(request: Request) -> Iterator[Finding]:
    """Reject a base model of a serverless job that is the content of another hub than the public one.

    Serverless jobs customize models of the public hub.
    """
    arn = parsed_arn(structure(request.payload, "ServerlessJobConfig").get("BaseModelArn"))
    kind, _, rest = arn.resource.partition("/") if arn else ("", "", "")
    hub = rest.partition("/")[0]
    if arn and kind == "hub-content" and hub != _PUBLIC_HUB and arn.account != "aws":
        yield BASE_MODEL_OF_A_PRIVATE_HUB.at(
            ("ServerlessJobConfig", "BaseModelArn"),
            f"{HERE} is in the hub `{shown(hub)}`, not in `{_PUBLIC_HUB}`",
            help=f"use `arn:aws:sagemaker:<region>:aws:hub-content/{_PUBLIC_HUB}/Model/<model>/<version>`",
        )


DECLINED_LICENSE = Rule("SM374", "declined license", "warning", evidence="api-doc")


def declined_license(request: Request) -> Iterator[Finding]:
    """Warn about AcceptEula false.

    Some base models require consent.
    """
    if structure(request.payload, "ServerlessJobConfig").get("AcceptEula") is False:
        yield DECLINED_LICENSE.at(
            ("ServerlessJobConfig", "AcceptEula"),
            "`AcceptEula` is false: the license of the base model is declined",
            help="set `AcceptEula: true` after you read the license",
        )


EVALUATION_WITHOUT_A_TYPE = Rule("SM480", "evaluation without a type", evidence="api-doc", needs_every_layer=True)


def evaluation_without_a_type(request: Request) -> Iterator[Finding]:
    """Reject JobType Evaluation without EvaluationType.

    There are several kinds of evaluation.
    """
    job = structure(request.payload, "ServerlessJobConfig")
    words = one_of(pinned_model().shapes["EvaluationType"].enum)
    if job.get("JobType") == "Evaluation" and "EvaluationType" not in job:
        yield EVALUATION_WITHOUT_A_TYPE.at(
            ("ServerlessJobConfig", "EvaluationType"),
            f"{HERE} is not set",
            help=f"set it to {words}",
            on="key",
        )


FINE_TUNING_WITHOUT_A_TECHNIQUE = Rule("SM373", "fine-tuning without a technique", "warning", evidence="inferred")


def fine_tuning_without_a_technique(request: Request) -> Iterator[Finding]:
    """Warn about JobType FineTuning without CustomizationTechnique.

    Models can be fine-tuned in several ways.
    """
    job = structure(request.payload, "ServerlessJobConfig")
    words = one_of(pinned_model().shapes["CustomizationTechnique"].enum)
    if job.get("JobType") == "FineTuning" and "CustomizationTechnique" not in job:
        yield FINE_TUNING_WITHOUT_A_TECHNIQUE.at(
            ("ServerlessJobConfig", "CustomizationTechnique"),
            "`CustomizationTechnique` is not set, but `JobType` is `FineTuning`",
            help=f"set `CustomizationTechnique` to {words}",
            on="key",
        )


UNSUPPORTED_SERVERLESS_JOB_MEMBER = Rule(
    "SM479", "member that a serverless job does not support", evidence="third-party-schema"
)

_EXCLUDED = {
    "AlgorithmSpecification": "image",
    "EnableManagedSpotTraining": "spot",
    "Environment": "environment",
    "RetryStrategy": "retries",
    "CheckpointConfig": "checkpoints",
    "DebugHookConfig": "DebugHookConfig",
    "ExperimentConfig": "ExperimentConfig",
    "ProfilerConfig": "ProfilerConfig",
    "ProfilerRuleConfigurations": "ProfilerRuleConfigurations",
    "TensorBoardOutputConfig": "tensorboard",
}
"""Members, and the keys of a spec that set them."""


def unsupported_serverless_job_member(request: Request) -> Iterator[Finding]:
    """Reject the members that a serverless job excludes. Spot training that is off does not count.

    A serverless job has its own code and instances.
    """
    if not request.is_serverless:
        return
    for name, key in _EXCLUDED.items():
        if request.payload.get(name, False) is not False:
            yield UNSUPPORTED_SERVERLESS_JOB_MEMBER.at(
                (name,),
                f"`{request.word(name, key)}` cannot be combined with `ServerlessJobConfig`",
                help="remove one of them",
                on="key",
            )


MEMBER_OF_A_DIFFERENT_SERVERLESS_JOB_TYPE = Rule(
    "SM372", "member of a different serverless job type", "warning", evidence="inferred"
)

_READERS = {"EvaluationType": "Evaluation", "CustomizationTechnique": "FineTuning", "Peft": "FineTuning"}


def member_of_a_different_serverless_job_type(request: Request) -> Iterator[Finding]:
    """Warn about members that the JobType of a serverless job does not read.

    Fine-tuning and evaluation read different members.
    """
    job = structure(request.payload, "ServerlessJobConfig")
    kind = job.get("JobType")
    for name, reader in _READERS.items():
        if name in job and kind in _READERS.values() and kind != reader:
            yield MEMBER_OF_A_DIFFERENT_SERVERLESS_JOB_TYPE.at(
                ("ServerlessJobConfig", name),
                f"`{name}` is for `JobType: {reader}`, but the type is `{kind}`",
                help="remove it",
                on="key",
            )


MODEL_PACKAGE_WITHOUT_A_SERVERLESS_JOB = Rule(
    "SM482", "model package without a serverless job", evidence="third-party-schema", needs_every_layer=True
)


def model_package_without_a_serverless_job(request: Request) -> Iterator[Finding]:
    """Reject ModelPackageConfig without ServerlessJobConfig.

    Only serverless jobs register their model.
    """
    if "ModelPackageConfig" in request.payload and not request.is_serverless:
        yield MODEL_PACKAGE_WITHOUT_A_SERVERLESS_JOB.at(
            ("ModelPackageConfig",),
            f"{HERE} requires `ServerlessJobConfig`",
            help="remove it, or add `ServerlessJobConfig`",
            on="key",
        )


VOLUME_OF_A_SERVERLESS_JOB = Rule("SM481", "volume of a serverless job", evidence="api-doc")


def volume_of_a_serverless_job(request: Request) -> Iterator[Finding]:
    """Reject VolumeSizeInGB in a serverless job.

    SageMaker chooses the instances of a serverless job, and their volumes.
    """
    if request.is_serverless and number(request.payload, "ResourceConfig", "VolumeSizeInGB"):
        yield VOLUME_OF_A_SERVERLESS_JOB.at(
            ("ResourceConfig", "VolumeSizeInGB"),
            f"{HERE} cannot be combined with `ServerlessJobConfig`",
            help="remove it",
            on="key",
        )


RULES = {
    base_model_of_a_private_hub: ("ServerlessJobConfig",),
    declined_license: ("ServerlessJobConfig",),
    evaluation_without_a_type: ("ServerlessJobConfig",),
    fine_tuning_without_a_technique: ("ServerlessJobConfig",),
    unsupported_serverless_job_member: ("ServerlessJobConfig",),
    member_of_a_different_serverless_job_type: ("ServerlessJobConfig",),
    model_package_without_a_serverless_job: ("ModelPackageConfig",),
    volume_of_a_serverless_job: ("ServerlessJobConfig",),
}
