"""Statements that the submitter can do without: ``submit`` looks at what a job uses, or shows that it may not.

Their ids begin with `Optional`, and their actions read descriptions only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from smspec.plan.plan import Plan
from smspec.render.iam.kms import key_statement, source_key
from smspec.render.iam.s3 import location
from smspec.render.iam.statements import Place, Statement, allow
from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import parsed_reference
from smspec.service.members import items, member
from smspec.service.runtime_settings import secret_reference
from smspec.service.s3_address import addresses

_FILE_SYSTEMS = {"EFS": "elasticfilesystem", "FSxLustre": "fsx"}
_KEYS = (("OutputDataConfig", "KmsKeyId"), ("ResourceConfig", "VolumeKmsKeyId"))


def optional_statements(plan: Plan, place: Place) -> list[Statement]:
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
    keys = dict.fromkeys([source_key(plan), *(member(payload, *steps) for steps in _KEYS)])
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


def _algorithm(payload: Mapping[str, object], place: Place) -> list[str]:
    return [
        name if name.startswith("arn:") else place.arn("sagemaker", f"algorithm/{name}")
        for name in _text(member(payload, "AlgorithmSpecification", "AlgorithmName"))
    ]


def _text(value: object) -> list[str]:
    return [value] if isinstance(value, str) and value else []


def _buckets(plan: Plan, place: Place) -> list[str]:
    """Return the buckets of a job; the location of an access point is in its ARN."""
    uris = (*(uri for _, uri in addresses(plan.request.payload)), *(upload.uri for upload in plan.uploads))
    found = (location(uri) for uri in uris)
    return [each.holder(place) for each in found if each is not None and not each.bucket.startswith("arn:")]


def _image(plan: Plan, place: Place) -> list[Statement]:
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


def _file_systems(payload: Mapping[str, object], place: Place) -> Iterator[tuple[str, str, Collection[str]]]:
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
