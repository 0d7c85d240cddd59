"""The policy of the submitter: a person, or CI."""

from __future__ import annotations

import json

from smspec.plan.plan import Plan
from smspec.render.iam.kms import key_statement, source_key
from smspec.render.iam.managed_policy import repository_notes
from smspec.render.iam.optional import optional_statements
from smspec.render.iam.s3 import Location, delivery, directory, listing, location, objects
from smspec.render.iam.statements import PULL, SERVICE, Place, Statement, allow, place_of, policy
from smspec.render.rendering import Rendering
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.members import member
from smspec.service.request import Request
from smspec.source.frozen import dataclass

_JOB = [
    "sagemaker:AddTags",
    "sagemaker:CreateTrainingJob",
    "sagemaker:DescribeTrainingJob",
    "sagemaker:ListTags",
    "sagemaker:StopTrainingJob",
]
_UPLOAD = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
_READ_LOGS = ["logs:DescribeLogStreams", "logs:FilterLogEvents", "logs:GetLogEvents"]
_CREATE = ["ecr:CreateRepository", "ecr:PutLifecyclePolicy"]
_PUSH = [
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:CompleteLayerUpload",
    "ecr:DescribeImages",
    "ecr:GetDownloadUrlForLayer",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    manifests: tuple[Location, ...]
    prefixes: tuple[Location, ...]


def submitter_policy(plan: Plan, region: str | None) -> Rendering:
    """Return the least-privilege policy to push the image, to upload the source, and to run and describe the job.

    Statements whose ids begin with `Optional` are about what `submit` looks at before it creates anything.
    """
    payload = plan.request.payload
    place = place_of(payload, region)
    data = _data(plan)
    uploads = [found for upload in plan.uploads if (found := delivery(upload.uri))]
    results = [found for found in (directory(member(payload, "OutputDataConfig", "S3OutputPath")),) if found]
    statements = [
        allow("RunJobsOfThisName", _JOB, [place.arn("sagemaker", f"training-job/{_jobs(plan)}")]),
        allow("FindJobsByName", ["sagemaker:ListTrainingJobs"], ["*"]),  # IAM has no resources for it
        allow(
            "PassTheRole",
            ["iam:PassRole"],
            [str(payload.get("RoleArn", "*"))],
            {"StringEquals": {"iam:PassedToService": SERVICE}},
        ),
        *_push(plan),
        *objects("UploadTheSource", _UPLOAD, uploads, place),
        *objects("ReadResults", ["s3:GetObject"], results, place),
        *objects("LookForManifests", ["s3:GetObject"], data.manifests, place),
        *listing("ListBucket", [*uploads, *results, *data.prefixes], place),
        allow("ReadLogs", _READ_LOGS, [place.arn("logs", "log-group:/aws/sagemaker/TrainingJobs*")]),
        *key_statement("EncryptTheSource", ["kms:Decrypt", "kms:GenerateDataKey"], source_key(plan), place),
        *key_statement("ReadEncryptedResults", ["kms:Decrypt"], member(payload, "OutputDataConfig", "KmsKeyId"), place),
        *optional_statements(plan, place),
    ]
    pushed = parsed_reference(plan.image.uri) if plan.image else None
    notes = repository_notes([pushed.repository] if pushed and pushed.account else [])
    return Rendering(text=json.dumps({"PolicyDocument": policy(statements)}, indent=2) + "\n", notes=tuple(notes))


def _jobs(plan: Plan) -> str:
    """Return the possible names of the job: its digest changes with the spec, an exact name does not."""
    name = str(plan.request.payload.get("TrainingJobName", "*"))
    return f"{plan.name}-*" if name.startswith(f"{plan.name}-") else name


def _data(plan: Plan) -> _Data:
    """Return the data of the author's channels, which must exist before the job is created."""
    generated = {upload.uri for upload in plan.uploads}
    manifests: list[Location] = []
    prefixes: list[Location] = []
    for channel in Request(payload=plan.request.payload).channels:
        uri = channel.s3.get("S3Uri")
        found = None if uri in generated else location(uri)
        if found is not None:
            (prefixes if channel.s3.get("S3DataType") == "S3Prefix" else manifests).append(found)
    return _Data(manifests=tuple(manifests), prefixes=tuple(prefixes))


def _push(plan: Plan) -> list[Statement]:
    """Return the statements to build the image on its base image and to push it, as far as they are in ECR."""
    if plan.image is None:
        return []
    place = place_of(plan.request.payload, None)
    statements = [
        allow(sid, actions, [_repository(image, place)])
        for sid, actions, reference in (
            ("PullTheBase", PULL, plan.image.base),
            ("CreateTheRepository", _CREATE, plan.image.uri),
            ("PushTheImage", _PUSH, plan.image.uri),
        )
        if (image := parsed_reference(reference)) is not None and image.account is not None
    ]
    return [allow("SignInToECR", ["ecr:GetAuthorizationToken"], ["*"]), *statements] if statements else []


def _repository(image: ImageReference, place: Place) -> str:
    return f"arn:{place.partition}:ecr:{image.region}:{image.account}:repository/{image.repository}"
