"""The policy of the submitter: a person, or CI.

Some statements are optional: ``submit`` looks at what a job uses, or shows that it may not. Their ids begin with
`Optional`, and their actions read descriptions only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from smspec.plan import Plan
from smspec.render.iam.statements import (
    PULL,
    SERVICE,
    JobPlace,
    S3Prefix,
    Statement,
    allow,
    delivery,
    directory,
    key_statement,
    listing,
    location,
    objects,
    place_of,
    policy,
    repository_notes,
)
from smspec.render.tree import Rendering
from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.request import Request
from smspec.service.runtime_settings import secret_reference
from smspec.service.s3_address import addresses
from smspec.service.shapes import items, member
from smspec.source.frozen import dataclass

_JOB = [
    "sagemaker:AddTags",
    "sagemaker:CreateTrainingJob",
    "sagemaker:DescribeTrainingJob",
    "sagemaker:ListTags",
    "sagemaker:StopTrainingJob",
]
_FOLLOW = ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"]
_RUN = ["batch:DescribeServiceJob", "batch:TerminateServiceJob", "batch:UpdateServiceJob"]
_FIND = ["batch:DescribeJobQueues", "batch:GetJobQueueSnapshot", "batch:ListServiceJobs"]
_READ_QUEUES = ["batch:DescribeSchedulingPolicies", "batch:DescribeServiceEnvironments", "batch:ListQuotaShares"]
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

_FILE_SYSTEMS = {"EFS": "elasticfilesystem", "FSxLustre": "fsx"}
_KEYS = (("OutputDataConfig", "KmsKeyId"), ("ResourceConfig", "VolumeKmsKeyId"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    manifests: tuple[S3Prefix, ...]
    prefixes: tuple[S3Prefix, ...]


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
        *_run(plan, place),
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
        *key_statement("EncryptTheSource", ["kms:Decrypt", "kms:GenerateDataKey"], plan.source_key, place),
        *key_statement("ReadEncryptedResults", ["kms:Decrypt"], member(payload, "OutputDataConfig", "KmsKeyId"), place),
        *_optional_statements(plan, place),
    ]
    pushed = parsed_reference(plan.image.uri) if plan.image else None
    notes = repository_notes([pushed.repository] if pushed and pushed.account else [])
    return Rendering(text=json.dumps({"PolicyDocument": policy(statements)}, indent=2) + "\n", notes=tuple(notes))


def _run(plan: Plan, place: JobPlace) -> list[Statement]:
    """Return the statements to create the job, and to follow and stop it: in SageMaker, or in its queue."""
    queue = plan.queue
    if queue is None:
        return [allow("RunJobsOfThisName", _JOB, [place.arn("sagemaker", f"training-job/{_jobs(plan)}")])]
    arn = queue.name if queue.name.startswith("arn:") else place.arn("batch", f"job-queue/{queue.name}")
    jobs = place.arn("batch", "service-job/*")
    return [
        # AWS Batch creates the training jobs, whose names begin with its own.
        allow("FollowJobsOfTheQueue", _FOLLOW, [place.arn("sagemaker", "training-job/AWSBatch*")]),
        allow("SubmitToTheQueue", ["batch:SubmitServiceJob", "batch:TagResource"], [arn, jobs]),
        allow("RunServiceJobs", _RUN, [jobs]),
        # The service authorization reference lists no resources for these.
        allow("FindServiceJobs", _FIND, ["*"]),
        allow("OptionalReadTheQueue", _READ_QUEUES, ["*"]),
    ]


def _jobs(plan: Plan) -> str:
    """Return the possible names of the job: its digest changes with the spec, an exact name does not."""
    name = str(plan.request.payload.get("TrainingJobName", "*"))
    return f"{plan.name}-*" if name.startswith(f"{plan.name}-") else name


def _data(plan: Plan) -> _Data:
    """Return the data of the author's channels, which must exist before the job is created."""
    generated = {upload.uri for upload in plan.uploads}
    manifests: list[S3Prefix] = []
    prefixes: list[S3Prefix] = []
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


def _repository(image: ImageReference, place: JobPlace) -> str:
    return f"arn:{place.partition}:ecr:{image.region}:{image.account}:repository/{image.repository}"


def _optional_statements(plan: Plan, place: JobPlace) -> list[Statement]:
    """Return what the table of ``submit`` asks for, apart from what the submission itself needs."""
    payload = plan.request.payload
    found: list[tuple[str, str, Collection[str]]] = [
        ("LocateBuckets", "s3:GetBucketLocation", _buckets(plan, place)),
        ("ReadTheRole", "iam:GetRole", _text(payload.get("RoleArn"))),
        (
            "DescribeThePlan",
            "sagemaker:DescribeTrainingPlan",
            _text(member(payload, "ResourceConfig", "TrainingPlanArn")),
        ),
        ("DescribeTheAlgorithm", "sagemaker:DescribeAlgorithm", _algorithm(payload, place)),
        *_file_systems(payload, place),
        *_secrets(plan),
    ]
    keys = dict.fromkeys([plan.source_key, *(member(payload, *steps) for steps in _KEYS)])
    described = [key for key in keys if isinstance(key, str) and key]
    return [
        *(allow(f"Optional{sid}", [action], [*resources]) for sid, action, resources in found if resources),
        *_image(plan, place),
        *(
            statement
            for number, key in enumerate(described)
            for statement in key_statement(f"OptionalDescribeTheKey{number or ''}", ["kms:DescribeKey"], key, place)
        ),
        # The service authorization reference lists no resources for these.
        *(
            [allow("OptionalDescribeTheNetwork", ["ec2:DescribeSecurityGroups", "ec2:DescribeSubnets"], ["*"])]
            if payload.get("VpcConfig")
            else []
        ),
        allow("OptionalReadTheQuotas", ["servicequotas:ListServiceQuotas"], ["*"]),
    ]


def _algorithm(payload: Mapping[str, object], place: JobPlace) -> list[str]:
    return [
        name if name.startswith("arn:") else place.arn("sagemaker", f"algorithm/{name}")
        for name in _text(member(payload, "AlgorithmSpecification", "AlgorithmName"))
    ]


def _text(value: object) -> list[str]:
    return [value] if isinstance(value, str) and value else []


def _buckets(plan: Plan, place: JobPlace) -> list[str]:
    """Return the buckets of a job; the location of an access point is in its ARN."""
    uris = (*(uri for _, uri in addresses(plan.request.payload)), *(upload.uri for upload in plan.uploads))
    found = (location(uri) for uri in uris)
    return [each.holder(place) for each in found if each is not None and not each.bucket.startswith("arn:")]


def _image(plan: Plan, place: JobPlace) -> list[Statement]:
    """Return the statement to read the existing image of a job, which its submitter does not push."""
    uri = member(plan.request.payload, "AlgorithmSpecification", "TrainingImage")
    image = parsed_reference(uri) if isinstance(uri, str) and plan.image is None else None
    if image is None or image.account is None:
        return []
    arn = f"arn:{place.partition}:ecr:{image.region}:{image.account}:repository/{image.repository}"
    read = allow("OptionalReadTheImage", ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], [arn])
    if is_provider(image.account):
        return [read]
    # The service authorization reference lists no resource for the rules of a registry.
    return [read, allow("OptionalReadTheCacheRules", ["ecr:DescribePullThroughCacheRules"], ["*"])]


def _file_systems(payload: Mapping[str, object], place: JobPlace) -> Iterator[tuple[str, str, Collection[str]]]:
    sources = [member(channel, "DataSource", "FileSystemDataSource") for channel in items(payload, "InputDataConfig")]
    for kind, service in _FILE_SYSTEMS.items():
        found = [
            place.arn(service, f"file-system/{member(source, 'FileSystemId')}")
            for source in sources
            if member(source, "FileSystemType") == kind and isinstance(member(source, "FileSystemId"), str)
        ]
        yield f"Describe{kind}", f"{service}:DescribeFileSystems", found


def _secrets(plan: Plan) -> Iterator[tuple[str, str, Collection[str]]]:
    texts = plan.settings.secrets.values() if plan.settings else ()
    found = [reference for text in texts if (reference := secret_reference(text))]
    yield (
        "DescribeSecrets",
        "secretsmanager:DescribeSecret",
        [arn for each in found if each.is_secret for arn in (each.arn, f"{each.arn}-??????")],
    )
    # DescribeParameters lists names, so IAM has no resource for it (service authorization reference).
    yield "DescribeParameters", "ssm:DescribeParameters", ["*"] if any(not each.is_secret for each in found) else []
