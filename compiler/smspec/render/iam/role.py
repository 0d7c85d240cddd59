"""The policy of the execution role: what SageMaker, the container, and the runtime do for the job.

And what the script calls itself, with the credentials of the role.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from smspec.render.iam.permission import Permission, applies, arguments, needed_actions, permissions, service_of
from smspec.render.iam.statements import (
    PULL,
    SERVICE,
    JobPlace,
    S3Prefix,
    Statement,
    allow,
    bucket_notes,
    delivery,
    directory,
    key_statement,
    listing,
    location,
    objects,
    place_of,
    policy,
)
from smspec.render.tree import Rendering
from smspec.script.aws import GAP, AwsCall, ScriptCalls
from smspec.script.aws.collecting import aws_calls
from smspec.service.arns import parsed_arn
from smspec.service.request import Request
from smspec.service.runtime_settings import SecretReference, secret_reference
from smspec.service.shapes import member
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

_LIBRARIES = ("module", "method", "s3fs")
"""Owners whose calls are about AWS only with an ``s3://`` address, or that have other calls too."""

_NAMED = 5
_MORE = {
    ("athena", "start_query_execution"): "its query also needs the catalog of AWS Glue and the data in S3",
}
"""Calls that need more than an action on what they name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStatements:
    """``statements`` about the calls that could be read, and notes on the others."""

    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()


def program_statements(calls: ScriptCalls, place: JobPlace) -> ProgramStatements:
    """Return statements per service, with the resources that are written in the script.

    Those on resources that are not written have ids of their own.
    """
    found: dict[Permission, Span] = {}
    unread = [(use.place, use.reason) for use in calls.unread if use.method is None or needed_actions(*use.method)]
    others: dict[str, Span] = {}
    for call in calls.calls:
        if not _is_about_aws(call):
            continue
        needed = needed_actions(call.owner, call.method)
        if call.credentials:
            if needed or call.owner not in _LIBRARIES:
                others.setdefault(call.credentials, call.place)
            continue
        if not needed and call.owner not in _LIBRARIES:
            unread.append((call.place, f"the permissions of `{_name(call)}` are not known to smspec"))
        if needed and (reason := _unread_part(call, arguments(call, needed[0]))):
            unread.append((call.place, reason))
        for part in needed:
            given = arguments(call, part)
            if part.actions and applies(part, given):
                for permission in permissions(call, part, given, place):
                    found.setdefault(permission, call.place)
    notes = [*_notes(unread), *_other_notes(others), *_wide_notes(found)]
    return ProgramStatements(statements=tuple(_statements(found)), notes=tuple(notes))


def _statements(found: Iterable[Permission]) -> Iterator[Statement]:
    """Yield statements by service: actions on the same resources are joined."""
    allowed: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for one in found:
        allowed.setdefault((_sid(one), one.actions, one.alias), set()).add(one.arn)
    joined: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for (sid, actions, alias), arns in allowed.items():
        joined.setdefault((sid, tuple(sorted(arns)), alias), set()).update(actions)
    numbers: dict[str, int] = {}
    for (sid, resources, alias), together in sorted(joined.items()):
        number = numbers.get(sid, 0)
        numbers[sid] = number + 1
        condition: Statement = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": alias}}
        yield allow(f"{sid}{number or ''}", sorted(together), list(resources), condition if alias else None)


def _sid(permission: Permission) -> str:
    service = service_of(permission.actions).title().replace("-", "")
    return f"ScriptCalls{'Any' if permission.wide else ''}{service}"


def _is_about_aws(call: AwsCall) -> bool:
    if call.owner not in ("module", "method"):
        return True
    needed = needed_actions(call.owner, call.method)
    if not needed or call.method.startswith("sagemaker."):
        return bool(needed)
    return any(value.startswith("s3://") for value in arguments(call, needed[0]).values())


def _unread_part(call: AwsCall, given: Mapping[str, str]) -> str:
    """Return why the policy may lack a permission for a call that is known; empty if it does not."""
    # An argument may need more permissions, such as that for an ACL or a key.
    if given.get("ExtraArgs") == GAP and not any(name.startswith("ExtraArgs.") for name in given):
        return f"the `ExtraArgs` of `{_name(call)}` cannot be read"
    return _MORE.get((call.owner, call.method), "")


def _name(call: AwsCall) -> str:
    return f"{call.owner.removesuffix(':resource')}.{call.method}"


def _notes(unread: list[tuple[Span, str]]) -> Iterator[str]:
    for span, reason in sorted(unread, key=lambda use: (use[0].file, use[0].line, use[1]))[:_NAMED]:
        yield f"the script uses AWS at {_line(span)}, but {reason}: add what it needs to the policy"
    if len(unread) > _NAMED:
        yield f"the policy lacks what {len(unread) - _NAMED} more uses of AWS in the script need"


def _other_notes(others: Mapping[str, Span]) -> Iterator[str]:
    for reason, span in sorted(others.items()):
        yield f"the script uses AWS at {_line(span)} with {reason}, not with the role: the policy has nothing for it"


def _wide_notes(found: Mapping[Permission, Span]) -> Iterator[str]:
    wide: dict[tuple[str, str], Span] = {}
    for permission, span in found.items():
        if permission.wide:
            wide.setdefault((_sid(permission), permission.wide), span)
    for (sid, reason), span in sorted(wide.items(), key=lambda item: item[0]):
        yield f"`{sid}` allows any resource, since {_line(span)} {reason}"


def _line(span: Span) -> str:
    file = span.file.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{span.line}"


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

# Developer guide, "Access a training container through AWS Systems Manager for remote debugging".
_CHANNELS = [
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]
_INDEX = "CA_REPOSITORY_ARN"
"""The runtime and SageMaker's training toolkit install packages at startup from the CodeArtifact repository in it."""

_ENDING = re.compile(r"-([A-Za-z0-9]{6})\Z")
"""Secrets Manager adds it to the name of a secret."""
_WORD = re.compile(r"[a-z0-9]+|[A-Z0-9]+|[A-Z]?[a-z]+([A-Z][a-z]{2,})*[0-9]*")
"""An ending that may be part of the name: `secret`, `APIKEY`, `ApiKey`. One random ending in eight is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """``read``: the locations of channels and code; ``listed``: those of them that are listed first."""

    read: tuple[S3Prefix, ...]
    listed: tuple[S3Prefix, ...]
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
        *_container_statements(payload, image_env or {}),
        *program.statements,
        *secret_statements(secrets),
    ]
    document = {"AssumeRolePolicyDocument": _trust(place), "PolicyDocument": policy(statements)}
    notes = (*sources.notes, *program.notes, *_secret_notes(secrets, place))
    notes += tuple(bucket_notes([*sources.read, *written, *kept]))
    return Rendering(text=json.dumps(document, indent=2) + "\n", notes=notes)


def _calls(payload: dict[str, object], image_env: Mapping[str, str], script: tuple[SourceText, ...]) -> ScriptCalls:
    """Return what the script calls. An isolated container calls nothing, and has no credentials."""
    if payload.get("EnableNetworkIsolation") is True:
        return ScriptCalls()
    variables = payload.get("Environment")
    return aws_calls(script, {**image_env, **(variables if isinstance(variables, dict) else {})})


def _trust(place: JobPlace) -> Statement:
    """Return the policy that lets SageMaker assume the role, only for jobs of this account (IAM, confused deputy)."""
    trust: Statement = {"Effect": "Allow", "Principal": {"Service": SERVICE}, "Action": "sts:AssumeRole"}
    if place.account != "*":
        trust["Condition"] = {"StringEquals": {"aws:SourceAccount": place.account}}
    return policy([trust])


def _sources(payload: dict[str, object]) -> _Sources:
    read: list[S3Prefix] = []
    listed: list[S3Prefix] = []
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


def _image(payload: dict[str, object], place: JobPlace) -> list[Statement]:
    image = Request(payload=payload).image
    if image is None or image.account is None:
        return []
    arn = f"arn:{place.partition}:ecr:{image.region}:{image.account}:repository/{image.repository}"
    return [allow("SignInToECR", ["ecr:GetAuthorizationToken"], ["*"]), allow("PullTheImage", PULL, [arn])]


def _keys(payload: dict[str, object], place: JobPlace) -> list[Statement]:
    output = member(payload, "OutputDataConfig", "KmsKeyId")
    volume = member(payload, "ResourceConfig", "VolumeKmsKeyId")
    return [
        # Decrypt is needed for the parts of a large object (S3 user guide, multipart upload and encryption).
        *key_statement("EncryptResults", ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], output, place),
        *key_statement("EncryptVolumes", ["kms:CreateGrant"], volume, place),
    ]


def _container_statements(payload: dict[str, object], image_env: Mapping[str, str]) -> list[Statement]:
    """Return what the agent of a remote debugger, and the installation of packages at startup, need."""
    statements = []
    if member(payload, "RemoteDebugConfig", "EnableRemoteDebug") is True:
        statements.append(allow("ConnectTheDebugger", _CHANNELS, ["*"]))
    repository = member(payload, "Environment", _INDEX) or image_env.get(_INDEX)
    return [*statements, *_package_index(repository)]


def _package_index(repository: object) -> list[Statement]:
    """Return the statements to read packages (CodeArtifact user guide, identity-based policies)."""
    arn = parsed_arn(repository)
    kind, _, rest = arn.resource.partition("/") if arn else ("", "", "")
    domain, _, name = rest.partition("/")
    if arn is None or arn.service != "codeartifact" or kind != "repository" or not name:
        return []
    domain_arn = f"arn:{arn.partition}:codeartifact:{arn.region}:{arn.account}:domain/{domain}"
    bearer: Statement = {"StringEquals": {"sts:AWSServiceName": "codeartifact.amazonaws.com"}}
    return [
        allow("SignInToCodeArtifact", ["codeartifact:GetAuthorizationToken"], [domain_arn]),
        allow(
            "ReadPackages", ["codeartifact:GetRepositoryEndpoint", "codeartifact:ReadFromRepository"], [str(repository)]
        ),
        # CodeArtifact user guide: without it no token is issued. It is about no resource.
        allow("CarryTheToken", ["sts:GetServiceBearerToken"], ["*"], bearer),
    ]


def secret_statements(texts: Iterable[str]) -> list[Statement]:
    """Return what is needed to read the values, whatever key encrypts them."""
    found = [reference for text in texts if (reference := secret_reference(text))]
    secrets = [reference for reference in found if reference.is_secret]
    parameters = [reference for reference in found if not reference.is_secret]
    return [
        *_reading("Secrets", "secretsmanager:GetSecretValue", "SecretARN", secrets),
        *_reading("Parameters", "ssm:GetParameter", "PARAMETER_ARN", parameters),
    ]


def _secret_notes(texts: Iterable[str], place: JobPlace) -> list[str]:
    """Return what the policy of the role cannot allow alone."""
    found = [reference for text in texts if (reference := secret_reference(text))]
    if not found:
        return []
    others = sorted({reference.arn for reference in found if place.account not in ("*", reference.account)})
    keys = (
        "kms:Decrypt is only needed for secrets with a customer managed key; the policy of that key must allow it too"
    )
    return [
        keys,
        *(f"{arn} is in a different account: its resource policy must allow the role to read it" for arn in others),
    ]


def _reading(what: str, action: str, context: str, references: list[SecretReference]) -> list[Statement]:
    """Return the statements about values of one service; its encryption context binds the key to these ARNs."""
    if not references:
        return []
    arns = sorted({arn for reference in references for arn in _resources(reference)})
    keys = [f"arn:{each.partition}:kms:{each.region}:{each.account}:key/*" for each in references]
    # Secrets Manager user guide and Systems Manager user guide, encryption context.
    condition: Statement = {"StringLike": {f"kms:EncryptionContext:{context}": arns}}
    return [allow(f"Read{what}", [action], arns), allow(f"Decrypt{what}", ["kms:Decrypt"], keys, condition)]


def _resources(reference: SecretReference) -> list[str]:
    """Return the ARNs for a policy; a secret may be named without the six characters at its end."""
    complete, partial = [reference.arn], [f"{reference.arn}-??????"]
    if not reference.is_secret:
        return complete
    ending = _ENDING.search(reference.name)
    if ending is None:
        return partial
    return complete + partial if _WORD.fullmatch(ending[1]) else complete
