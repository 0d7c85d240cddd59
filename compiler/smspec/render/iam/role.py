"""The policy of the execution role: what SageMaker and the container do for the job."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from smspec.render.iam.container import container_statements
from smspec.render.iam.kms import key_statement
from smspec.render.iam.managed_policy import bucket_notes
from smspec.render.iam.program import program_statements
from smspec.render.iam.s3 import Location, delivery, directory, listing, location, objects
from smspec.render.iam.secrets import secret_notes, secret_statements
from smspec.render.iam.statements import PULL, SERVICE, Place, Statement, allow, place_of, policy
from smspec.render.rendering import Rendering
from smspec.script.aws import AwsCalls
from smspec.script.aws.collecting import aws_calls
from smspec.service.members import member
from smspec.service.request import Request
from smspec.source import SourceText
from smspec.source.frozen import dataclass

# Developer guide, "SageMaker roles": CreateTrainingJob API, execution role permissions. All statements are based on it.
_LOGS = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
_INTERFACES = [
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
]
_MANIFESTS = ("ManifestFile", "AugmentedManifestFile")
_WRITTEN = (
    ("OutputDataConfig", "S3OutputPath"),
    ("TensorBoardOutputConfig", "S3OutputPath"),
    ("DebugHookConfig", "S3OutputPath"),
    ("ProfilerConfig", "S3OutputPath"),
)
_SUBMITTED = "sagemaker_submit_directory"
_DELIVERED = ("code", "smspec")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """``read``: the locations of channels and code; ``listed``: those of them that are listed first."""

    read: tuple[Location, ...]
    listed: tuple[Location, ...]
    notes: tuple[str, ...]


def role_policy(
    payload: dict[str, object],
    region: str | None,
    *,
    image_env: Mapping[str, str] | None = None,
    script: tuple[SourceText, ...] = (),
    secrets: Collection[str] = (),
    source_key: str | None = None,
) -> Rendering:
    """Return the trust policy and the least-privilege policy of the job's role, as for CreateRole and PutRolePolicy.

    ``image_env`` are variables of the image, as far as they are known; ``script`` the modules of the script;
    ``secrets`` the ARNs of the job's secrets; ``source_key`` the KMS key of the source in S3.
    """
    place = place_of(payload, region)
    sources = _sources(payload)
    checkpoints = member(payload, "CheckpointConfig", "S3Uri")
    kept = [found for found in (directory(checkpoints),) if found]
    # It is not documented whether SageMaker lists them with the `/` that a written prefix lacks: allow both.
    looked_through = [found for found in (location(checkpoints),) if found]
    written = [found for path in _WRITTEN if (found := directory(member(payload, *path)))]
    program = program_statements(_calls(payload, image_env or {}, script), place)
    statements = [
        *objects("ReadChannelsAndCode", ["s3:GetObject"], sources.read, place),
        *objects("WriteResults", ["s3:AbortMultipartUpload", "s3:PutObject"], written, place),
        *objects(
            "KeepCheckpoints",
            ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            kept,
            place,
        ),
        *listing("ListBucket", [*sources.listed, *looked_through], place),
        *_image(payload, place),
        allow("WriteLogs", _LOGS, [place.arn("logs", "log-group:/aws/sagemaker/TrainingJobs*")]),
        allow("PublishMetrics", ["cloudwatch:PutMetricData"], ["*"]),
        *key_statement("ReadEncryptedSource", ["kms:Decrypt"], source_key, place),
        *_keys(payload, place),
        *([allow("JoinTheVpc", _INTERFACES, ["*"])] if "VpcConfig" in payload else []),
        *container_statements(payload, image_env or {}),
        *program.statements,
        *secret_statements(secrets),
    ]
    document = {"AssumeRolePolicyDocument": _trust(place), "PolicyDocument": policy(statements)}
    notes = (*sources.notes, *program.notes, *secret_notes(secrets, place))
    notes += tuple(bucket_notes([*sources.read, *written, *kept]))
    return Rendering(text=json.dumps(document, indent=2) + "\n", notes=notes)


def _calls(payload: dict[str, object], image_env: Mapping[str, str], script: tuple[SourceText, ...]) -> AwsCalls:
    """Return what the script calls. An isolated container calls nothing, and has no credentials."""
    if payload.get("EnableNetworkIsolation") is True:
        return AwsCalls()
    variables = payload.get("Environment")
    return aws_calls(script, {**image_env, **(variables if isinstance(variables, dict) else {})})


def _trust(place: Place) -> Statement:
    """Return the policy that lets SageMaker assume the role, only for jobs of this account (IAM, confused deputy)."""
    trust: Statement = {"Effect": "Allow", "Principal": {"Service": SERVICE}, "Action": "sts:AssumeRole"}
    if place.account != "*":
        trust["Condition"] = {"StringEquals": {"aws:SourceAccount": place.account}}
    return policy([trust])


def _sources(payload: dict[str, object]) -> _Sources:
    read: list[Location] = []
    listed: list[Location] = []
    notes: list[str] = []
    for channel in Request(payload=payload).channels:
        uri = channel.s3.get("S3Uri")
        found = delivery(uri) if channel.name in _DELIVERED else location(uri)
        if found is None:
            if uri is not None:
                notes.append(f"channel {channel.name}: `{uri}` is not an S3 URI, so the policy does not include it")
            continue
        read.append(found)
        if channel.s3.get("S3DataType") in _MANIFESTS:
            notes.append(f"channel {channel.name}: add the objects that its manifest lists to the policy")
        else:
            listed.append(found)
    submitted = delivery(member(payload, "HyperParameters", _SUBMITTED))
    if submitted is not None:
        read.append(submitted)
    return _Sources(read=tuple(read), listed=tuple(listed), notes=tuple(notes))


def _image(payload: dict[str, object], place: Place) -> list[Statement]:
    image = Request(payload=payload).image
    if image is None or image.account is None:
        return []
    arn = f"arn:{place.partition}:ecr:{image.region}:{image.account}:repository/{image.repository}"
    return [allow("SignInToECR", ["ecr:GetAuthorizationToken"], ["*"]), allow("PullTheImage", PULL, [arn])]


def _keys(payload: dict[str, object], place: Place) -> list[Statement]:
    output = member(payload, "OutputDataConfig", "KmsKeyId")
    volume = member(payload, "ResourceConfig", "VolumeKmsKeyId")
    return [
        # Decrypt is needed for the parts of a large object (S3 user guide, multipart upload and encryption).
        *key_statement("EncryptResults", ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], output, place),
        *key_statement("EncryptVolumes", ["kms:CreateGrant"], volume, place),
    ]
