"""The policy of the submitter: a person, or CI."""

from __future__ import annotations

import json

from smspec.plan.plan import Plan
from smspec.render.iam.kms import key_statement
from smspec.render.iam.managed_policy import repository_notes
from smspec.render.iam.s3 import delivery, directory, listing, objects
from smspec.render.iam.statements import PULL, SERVICE, Place, Statement, allow, place_of, policy
from smspec.render.rendering import Rendering
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.members import member

_JOB = ["sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"]
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


def submitter_policy(plan: Plan, region: str | None) -> Rendering:
    """Return the least-privilege policy to push the image, to upload the source, and to run and describe the job."""
    payload = plan.request.payload
    place = place_of(payload, region)
    uploads = [found for upload in plan.uploads if (found := delivery(upload.uri))]
    results = [found for found in (directory(member(payload, "OutputDataConfig", "S3OutputPath")),) if found]
    statements = [
        allow(
            "RunJobsOfThisName", [*_JOB, *_tagging(payload)], [place.arn("sagemaker", f"training-job/{_jobs(plan)}")]
        ),
        allow(
            "PassTheRole",
            ["iam:PassRole"],
            [str(payload.get("RoleArn", "*"))],
            {"StringEquals": {"iam:PassedToService": SERVICE}},
        ),
        *_push(plan),
        *objects("UploadTheSource", ["s3:GetObject", "s3:PutObject"], uploads, place),
        *objects("ReadResults", ["s3:GetObject"], results, place),
        *listing("ListBucket", [*uploads, *results], place),
        allow("ReadLogs", _READ_LOGS, [place.arn("logs", "log-group:/aws/sagemaker/TrainingJobs*")]),
        *key_statement("ReadEncryptedResults", ["kms:Decrypt"], member(payload, "OutputDataConfig", "KmsKeyId"), place),
    ]
    pushed = parsed_reference(plan.image.uri) if plan.image else None
    notes = repository_notes([pushed.repository] if pushed and pushed.account else [])
    return Rendering(text=json.dumps({"PolicyDocument": policy(statements)}, indent=2) + "\n", notes=tuple(notes))


def _jobs(plan: Plan) -> str:
    """Return the possible names of the job: its digest changes with the spec, an exact name does not."""
    name = str(plan.request.payload.get("TrainingJobName", "*"))
    return f"{plan.name}-*" if name.startswith(f"{plan.name}-") else name


def _tagging(payload: dict[str, object]) -> list[str]:
    return ["sagemaker:AddTags"] if payload.get("Tags") else []


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
