"""Why training jobs fail, and what helps: the reasons of SageMaker, by the words that they begin with or contain."""

from __future__ import annotations

import re

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCause:
    """``pattern`` is searched in a FailureReason. ``source``: where the reason is documented or was reported."""

    pattern: str
    cause: str
    fix: str
    source: str


_ISSUES = "https://github.com/aws/sagemaker-python-sdk/issues"
_EXAMPLES = "https://github.com/aws/amazon-sagemaker-examples/issues"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference"

CAUSES = (
    FailureCause(
        pattern=r"^CapacityError|Unable to provision requested ML compute capacity",
        cause="AWS has no free instance of this type in the region, or in the zones of the subnets",
        fix="submit the job again later, or with a different `hosts.instance_type`, region, or more subnets",
        source="https://github.com/DIAGNijmegen/rse-grand-challenge/issues/2631",
    ),
    FailureCause(
        pattern=r"^ResourceLimitExceeded|account-level service limit",
        cause="the quota of the account for this instance type is used up, or 0",
        fix="wait for other jobs to end, or request a higher quota; `smspec quotas` shows the quotas",
        source=f"{_GUIDE}/regions-quotas.html",
    ),
    FailureCause(
        pattern=r"Cannot pull algorithm container",
        cause="SageMaker cannot pull the image: it is missing, in a different region, or the role may not read it",
        fix="push the image, and allow the role to read it: `smspec render --iam-policy` prints the policy",
        source=f"{_ISSUES}/1968",
    ),
    FailureCause(
        pattern=r"exec: \\?\"[^\"]{1,200}\": (executable file not found|permission denied|stat )",
        cause="the image has no such program, or may not execute it",
        fix="set `entry_point`, or add the program to the image's PATH and make it executable",
        source=f"{_ISSUES}/222",
    ),
    FailureCause(
        pattern=r"No S3 objects found under S3 URL|S3 key: .{1,2048} matched no files",
        cause="a channel's prefix has no objects",
        fix="correct `s3` of the channel, or upload the data; the bucket must be in the job's region",
        source=f"{_EXAMPLES}/2489",
    ),
    FailureCause(
        pattern=r"Data download failed.{0,2048}(AccessDenied|403|Access Denied)",
        cause="the role may not read a channel's data, or the bucket or its KMS key denies it",
        fix="allow the role to read the data: `smspec render --iam-policy` prints the policy",
        source=f"{_EXAMPLES}/4384",
    ),
    FailureCause(
        pattern=r"illegal char sub-sequence '//'",
        cause="SageMaker rejects objects in S3 whose keys contain `//`",
        fix="move the objects to keys without empty parts",
        source="https://github.com/aws-samples/generative-ai-on-amazon-sagemaker/pull/242",
    ),
    FailureCause(
        pattern=r"Artifact upload failed.{0,2048}(BucketRegionError|same region)",
        cause="the bucket of the output is in a different region",
        fix="set `output.s3` to a bucket in the job's region",
        source=f"{_EXAMPLES}/3881",
    ),
    FailureCause(
        pattern=r"Artifact upload failed.{0,2048}(route|VPC endpoint|NAT)",
        cause="the hosts cannot reach S3 from their subnets",
        fix="add an S3 endpoint or a NAT device to the subnets of `network`",
        source="https://github.com/aws/amazon-sagemaker-operator-for-k8s/pull/22",
    ),
    FailureCause(
        pattern=r"Artifact upload failed.{0,2048}(AccessDenied|403|Access Denied)",
        cause="the role may not write the output, or the bucket or its KMS key denies it",
        fix="allow the role to write to `output.s3`: `smspec render --iam-policy` prints the policy",
        source=f"{_GUIDE}/sagemaker-roles.html",
    ),
    FailureCause(
        pattern=r"Insufficient disk space|No space left on device",
        cause="a volume of a host is full: data, checkpoints, and the model share it",
        fix="increase `hosts.volume`, write less, or read the data with `input_mode: FastFile` or `Pipe`",
        source=f"{_ISSUES}/128",
    ),
    FailureCause(
        pattern=r"SageMaker pipe channel timed out",
        cause="the script did not read a Pipe channel for too long",
        fix="read every Pipe channel to its end in each epoch; `smspec run` shows channels that were not read",
        source=f"{_EXAMPLES}/1316",
    ),
    FailureCause(
        pattern=r"^InternalServerError",
        cause="SageMaker failed, or could not say why",
        fix="submit the job again; if it fails again, look at the last lines of its log and contact AWS Support",
        source=f"{_ISSUES}/70",
    ),
    FailureCause(
        pattern=r"CUDA out of memory|OutOfMemoryError: CUDA",
        cause="the memory of a GPU is full",
        fix="reduce the batch size, or use an instance type with more memory per GPU",
        source="https://pytorch.org/docs/stable/notes/faq.html",
    ),
    FailureCause(
        pattern=r"[Ee]xit [Cc]ode:? ?137\b|^ExitCode 137$|\bSIGKILL: probably out of memory",
        cause="the script was killed, most likely because the memory of the host was full",
        fix="use an instance type with more memory, or less of it; `smspec run --memory auto` repeats this here",
        source=f"{_GUIDE}/your-algorithms-training-algo-running-container.html",
    ),
    FailureCause(
        pattern=r"[Ee]xit [Cc]ode:? ?139\b|^ExitCode 139$|\bSIGSEGV\b",
        cause="a compiled library crashed, often one built for a different processor or version",
        fix="check the versions in the image, for example with `smspec check`",
        source=f"{_ISSUES}/134",
    ),
)
"""The first row that matches wins."""

LIMITS = {
    "MaxRuntimeExceeded": FailureCause(
        pattern="",
        cause="the job reached `stopping.max_runtime`",
        fix="increase `stopping.max_runtime`, or write checkpoints and let the next job go on from them",
        source=f"{_API}/API_StoppingCondition.html",
    ),
    "MaxWaitTimeExceeded": FailureCause(
        pattern="",
        cause="the job reached `spot.max_wait`, waiting for Spot capacity included",
        fix="increase `spot.max_wait`, or run the job without `spot`",
        source=f"{_API}/API_StoppingCondition.html",
    ),
}
"""Secondary statuses of jobs that SageMaker stopped."""


def failure_cause(reason: str, secondary: str = "") -> FailureCause | None:
    """Return the likely cause of a FailureReason, or of a secondary status; None for an unknown one."""
    if secondary in LIMITS:
        return LIMITS[secondary]
    text = reason[:4096]
    return next((row for row in CAUSES if re.search(row.pattern, text, re.MULTILINE | re.DOTALL)), None)
