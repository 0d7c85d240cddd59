"""A request as a whole: members that it must have, names and tags, and locations that must agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.arns import parsed_arn, partition_of
from smspec.service.patterns import shown
from smspec.service.request import IMAGE, OWN_TAGS, Request
from smspec.service.s3_address import is_access_point, region_of
from smspec.service.shapes import items, member, repeated, structure
from smspec.source import Path
from smspec.source.frozen import ByIdentity

JOB_WITHOUT_ALGORITHM = Rule("SM420", "job without an image", evidence="third-party-schema", needs_every_layer=True)


def job_without_algorithm(request: Request) -> Iterator[Finding]:
    """Reject a request without AlgorithmSpecification, unless the job is serverless.

    A request must set what it runs. The model stopped requiring it with serverless jobs; the service did not.
    """
    image = request.word("AlgorithmSpecification", "image")
    yield from _not_set(
        request, JOB_WITHOUT_ALGORITHM, "AlgorithmSpecification", image, f"set `{image}` to an image or an algorithm"
    )


JOB_WITHOUT_HOSTS = Rule("SM421", "job without instances", evidence="third-party-schema", needs_every_layer=True)


def job_without_hosts(request: Request) -> Iterator[Finding]:
    """Reject a request without ResourceConfig, unless the job is serverless.

    A request must set what the job runs on.
    """
    hosts = request.word("ResourceConfig", "hosts")
    yield from _not_set(
        request, JOB_WITHOUT_HOSTS, "ResourceConfig", hosts, f"set `{hosts}` to an instance type and a count"
    )


JOB_WITHOUT_STOPPING_CONDITION = Rule(
    "SM422", "job without a stopping condition", evidence="third-party-schema", needs_every_layer=True
)


def job_without_stopping_condition(request: Request) -> Iterator[Finding]:
    """Reject a request without StoppingCondition, unless the job is serverless.

    A request must have a stopping condition, even an empty one.
    """
    help = "add `StoppingCondition: {}`; SageMaker then stops the job after a day"
    yield from _not_set(request, JOB_WITHOUT_STOPPING_CONDITION, "StoppingCondition", "StoppingCondition", help)


def _not_set(request: Request, rule: Rule, name: str, word: str, help: str) -> Iterator[Finding]:
    if name not in request.payload and not request.is_serverless:
        yield rule.at((name,), f"`{word}` is not set", help=help)


MARKETPLACE_ALGORITHM_WITHOUT_ISOLATION = Rule(
    "SM359", "marketplace algorithm without network isolation", "warning", evidence="devguide"
)


def marketplace_algorithm_without_isolation(request: Request) -> Iterator[Finding]:
    """Warn about the algorithm of a different account in a container with a network.

    Algorithms from AWS Marketplace run in network isolation; one of the same account may have a network.
    """
    arn, role = parsed_arn(structure(request.payload, "AlgorithmSpecification").get("AlgorithmName")), request.role
    if arn is None or role is None or arn.account == role.account:
        return
    if request.payload.get("EnableNetworkIsolation") is not True:
        isolation = request.word("EnableNetworkIsolation: true", "network: {isolation: true}")
        yield MARKETPLACE_ALGORITHM_WITHOUT_ISOLATION.at(
            ("EnableNetworkIsolation",),
            f"`{shown(arn.resource)}` might be from AWS Marketplace and require `{isolation}`",
            help=f"add `{isolation}`",
            on="key",
            cause=("AlgorithmSpecification", "AlgorithmName"),
        )


HYPERPARAMETER_WITHOUT_A_NAME = Rule("SM485", "hyperparameter without a name", evidence="inferred")


def hyperparameter_without_a_name(request: Request) -> Iterator[Finding]:
    """Reject a hyperparameter whose name is empty: as an argument it would be `--`, as a variable `SM_HP_`.

    The API accepts an empty name, but no script can read it.
    """
    if "" in structure(request.payload, "HyperParameters"):
        word = request.word("HyperParameters", "hyperparameters")
        yield HYPERPARAMETER_WITHOUT_A_NAME.at(
            ("HyperParameters", ""),
            f"`{word}` contains an empty name; the script would get the argument `--`",
            help="add the name, or remove the entry",
            on="key",
        )


NUL_IN_THE_REQUEST = Rule("SM486", "null character in the request", evidence="inferred")

_PLAIN_MEMBERS: ByIdentity[bool] = ByIdentity()

_BY_JSON = "HyperParameters"
"""They reach the container in a JSON file, which can contain a NUL; SM320 checks those that become arguments."""


def nul_in_the_request(request: Request) -> Iterator[Finding]:
    """Reject a NUL or a surrogate in any string that the container gets as a variable, an argument, or a path.

    Variables, arguments, and paths end at a NUL: the kernel and every file system reject one.
    """
    for name, value in request.payload.items():
        # Most members contain neither, and jobs share many.
        if name != _BY_JSON and not _PLAIN_MEMBERS.of("", value, partial(_is_plain, value)):
            yield from _characters(value, (name,))


def _is_plain(value: object) -> bool:
    """Return whether one search in all strings of a member shows that there is nothing to report."""
    texts: list[str] = []
    _collect(value, texts)
    together = "".join(texts)
    return together.isascii() and "\0" not in together


def _collect(value: object, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _collect(part, texts)


def _characters(value: object, path: Path) -> Iterator[Finding]:
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or re.search("[\ud800-\udfff]", value) is None):
            yield NUL_IN_THE_REQUEST.at(
                path,
                f"{HERE} contains " + ("a null character" if "\0" in value else "an unpaired surrogate"),
                help="remove it, or encode the value, for example as base64",
            )
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _characters(part, (*path, step))


DUPLICATE_TAG = Rule("SM429", "duplicate tag", evidence="api-doc")


def duplicate_tag(request: Request) -> Iterator[Finding]:
    """Reject two tags with one key.

    A tag has one value.
    """
    for index, key in repeated(items(request.payload, "Tags"), "Key"):
        yield DUPLICATE_TAG.at(("Tags", index, "Key"), f"duplicate tag `{shown(key)}`", help="remove one of them")


RESERVED_TAG = Rule("SM476", "reserved tag", evidence="inferred")


def reserved_tag(request: Request) -> Iterator[Finding]:
    """Reject a tag whose key starts with aws:, and in a spec with smspec:.

    Tags that start with aws: are reserved for AWS. Requests of submitted jobs have the tags of smspec.
    """
    reserved = {"aws:": "AWS", **({OWN_TAGS: "smspec"} if request.in_spec_words else {})}
    for index, tag in enumerate(items(request.payload, "Tags")):
        key = str(member(tag, "Key"))
        for prefix, owner in reserved.items():
            if key.lower().startswith(prefix):
                yield RESERVED_TAG.at(
                    ("Tags", index, "Key"),
                    f"tag `{shown(key)}` begins with `{prefix}`, which {owner} reserves",
                    help="use a different prefix",
                )


RUN_WITHOUT_AN_EXPERIMENT = Rule("SM369", "run without an experiment", "warning", evidence="inferred")


def run_without_an_experiment(request: Request) -> Iterator[Finding]:
    """Warn about RunName without ExperimentName.

    A run belongs to an experiment.
    """
    experiment = structure(request.payload, "ExperimentConfig")
    if "RunName" in experiment and "ExperimentName" not in experiment:
        yield RUN_WITHOUT_AN_EXPERIMENT.at(
            ("ExperimentConfig", "ExperimentName"),
            "`RunName` has no effect without `ExperimentName`",
            help="add `ExperimentName`",
            on="key",
        )


RESERVED_ENVIRONMENT_VARIABLE = Rule("SM370", "reserved environment variable", "warning", evidence="devguide")

_SET_BY_SAGEMAKER = ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION")


def reserved_environment_variable(request: Request) -> Iterator[Finding]:
    """Warn about environment variables that SageMaker or the toolkit in the container sets.

    SageMaker sets some variables for every job.
    """
    for name in structure(request.payload, "Environment"):
        if name in _SET_BY_SAGEMAKER or name.startswith("SM_"):
            yield RESERVED_ENVIRONMENT_VARIABLE.at(
                ("Environment", name),
                f"`{request.word('Environment', 'environment')}.{shown(name)}` might be overwritten: "
                "SageMaker sets it in the container",
                help="rename the variable",
                on="key",
            )


ARN_OF_A_DIFFERENT_PARTITION = Rule("SM478", "ARN of a different partition", evidence="inferred")


def arn_of_a_different_partition(request: Request) -> Iterator[Finding]:
    """Reject ARNs of a different partition than that of the role, and a role of a different one than the job's.

    Resources cannot be used across AWS partitions, such as aws, aws-cn, and aws-us-gov.
    """
    role = request.role
    if role is None:
        return
    image = request.image
    # SageMaker pulls an image from the registry of the region in which the job runs.
    region = request.region or (image.region if image else None)
    partition = partition_of(region) if region else None
    if partition is not None and role.partition != partition.name:
        yield ARN_OF_A_DIFFERENT_PARTITION.at(
            ("RoleArn",),
            f"{HERE} is in the partition `{shown(role.partition)}`, but `{shown(region)}` is in `{partition.name}`",
            help=f"use a role in the partition `{partition.name}`, or another region",
        )
        return
    for path, other in _partitions(request):
        if other != role.partition:
            yield ARN_OF_A_DIFFERENT_PARTITION.at(
                path,
                f"{HERE} is in the partition `{shown(other)}`, but the role is in `{shown(role.partition)}`",
                help="use an ARN in the partition of the role",
            )


def _partitions(request: Request) -> Iterator[tuple[Path, str]]:
    """Yield the partition of each ARN, also of access points in S3 addresses."""
    for named in request.arns:
        yield named.path, named.arn.partition
    for path, address in request.s3_addresses:
        point = parsed_arn(address.removeprefix("s3://"))
        if point is not None:
            yield path, point.partition


ARN_OF_A_DIFFERENT_REGION = Rule("SM477", "ARN of a different region", evidence="inferred")


def arn_of_a_different_region(request: Request) -> Iterator[Finding]:
    """Reject ARNs and S3 addresses of a different region than that of the job, where that is known.

    A job uses resources in its own region.
    """
    if not request.region:
        return
    here = partition_of(request.region)
    named = ((each.path, each.arn.region, "an ARN") for each in request.arns if each.is_of_the_job)
    stored = (
        (path, region_of(address), "a bucket")
        for path, address in request.s3_addresses
        # SM478 reports access points of a different partition.
        if not is_access_point(address) or partition_of(region_of(address) or request.region) == here
    )
    for path, there, what in chain(named, stored):
        if there and there != request.region:
            yield ARN_OF_A_DIFFERENT_REGION.at(
                path,
                f"{HERE} is in `{shown(there)}`, but the job runs in `{shown(request.region)}`",
                help=f"use {what} in the region of the job",
            )


REGISTRY_WITH_ANOTHER_DNS_SUFFIX = Rule(
    "SM801", "registry with the DNS suffix of a different region", evidence="service-message"
)


def registry_with_another_dns_suffix(request: Request) -> Iterator[Finding]:
    """Reject a registry such as `….dkr.ecr.cn-north-1.amazonaws.com`, whose suffix is `amazonaws.com.cn`.

    The host name of a registry in Amazon ECR ends with the DNS suffix of its region.
    """
    image = request.image
    found = image.wrong_suffix if image is not None else None
    if image is None or image.registry is None or found is None:
        return
    yield REGISTRY_WITH_ANOTHER_DNS_SUFFIX.at(
        IMAGE,
        f"{HERE} has the DNS suffix `{shown(found.suffix)}`, but that of `{shown(found.region)}` is `{found.expected}`",
        help=f"use `{shown(image.registry.removesuffix(found.suffix))}{found.expected}`",
    )


IMAGE_IN_A_DIFFERENT_REGION = Rule("SM371", "image in a different region", evidence="service-message")


def image_in_a_different_region(request: Request) -> Iterator[Finding]:
    """Reject an ECR image of a different region than that of the job, where that is known.

    SageMaker pulls images from the ECR of the region.
    """
    image = request.image
    there = image.region if image else None
    if request.region and there and there != request.region:
        provided = request.provided_image
        right = provided.uri_in(request.region) if provided else ""
        yield IMAGE_IN_A_DIFFERENT_REGION.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{request.word('TrainingImage', 'image')}` is in `{shown(there)}`, but the job runs in "
            f"`{shown(request.region)}`",
            help=f"use `{right}`" if right else "move the image to the region of the job, and use its URI there",
        )


RULES = {
    job_without_algorithm: (),
    job_without_hosts: (),
    job_without_stopping_condition: (),
    marketplace_algorithm_without_isolation: ("AlgorithmSpecification.AlgorithmName",),
    hyperparameter_without_a_name: ("HyperParameters",),
    nul_in_the_request: (),
    duplicate_tag: ("Tags",),
    reserved_tag: ("Tags",),
    run_without_an_experiment: ("ExperimentConfig",),
    reserved_environment_variable: ("Environment",),
    arn_of_a_different_partition: (),
    arn_of_a_different_region: (),
    registry_with_another_dns_suffix: ("AlgorithmSpecification.TrainingImage",),
    image_in_a_different_region: ("AlgorithmSpecification.TrainingImage",),
}
