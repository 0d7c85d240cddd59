"""What a job names besides its data: an image in Amazon ECR, KMS keys, its network, file systems, and secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from smspec.registry.manifest import ACCEPTED, Manifest, config_platform, has_platform, read_manifest, shown
from smspec.service.arns import parsed_arn
from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.runtime_settings import SecretReference, secret_reference
from smspec.service.shapes import items, member
from smspec.submission.preflight.asking import (
    SURROUNDINGS_AT_FAULT,
    Answer,
    AwsQuestion,
    NotChecked,
    PreflightCalls,
    ok,
    wrong,
)
from smspec.wire.aws import AwsRefused
from smspec.wire.fault import WireFault

IMAGE = "image"
_NO_IMAGE = ("RepositoryNotFoundException", "ImageNotFoundException")
_LARGEST_CONFIG = 1 << 20
_MOST_RULE_PAGES = 5
KEY, NETWORK, FILE_SYSTEM, SECRET = "KMS key", "network", "file system", "secret"
_MOST_NAMED = 3
_ENCRYPTS = "SYMMETRIC_DEFAULT"

_USABLE = ("Enabled", "Updating")
"""A multi-Region key whose primary region is being changed encrypts as before (KMS developer guide, "Key states")."""

_SYSTEMS = {
    "EFS": ("efs", "elasticfilesystem:DescribeFileSystems", "LifeCycleState"),
    "FSx": ("fsx", "fsx:DescribeFileSystems", "Lifecycle"),
}
"""The service, the permission, and the member with the state of each type of file system."""


def image_questions(calls: PreflightCalls, payload: Mapping[str, Any], platforms: tuple[str, ...]) -> list[AwsQuestion]:
    """Return the question about the image of a request; none without an image.

    ``platforms``: one of them is that of the hosts; empty if that is unknown.
    """
    uri = member(payload, "AlgorithmSpecification", "TrainingImage")
    reference = parsed_reference(uri) if isinstance(uri, str) else None
    if reference is None:
        return []
    waits_for = f"Amazon ECR in {reference.region}" if reference.region else "the registry"
    return [
        AwsQuestion(
            kind=IMAGE, name=str(uri), waits_for=waits_for, ask=partial(_image, calls, reference, str(uri), platforms)
        )
    ]


def _image(calls: PreflightCalls, reference: ImageReference, uri: str, platforms: tuple[str, ...]) -> Answer:
    account, region = reference.account, reference.region
    if account is None or region is None:
        raise NotChecked("it is not in a private registry of Amazon ECR")
    client = calls.client("ecr", region)
    where = {"registryId": account, "repositoryName": reference.repository}
    wanted = {"imageDigest": reference.digest} if reference.digest else {"imageTag": reference.tag or "latest"}
    try:
        found = calls.called(
            f"read the image `{uri}`",
            "ecr:BatchGetImage",
            lambda: client.batch_get_image(imageIds=[wanted], acceptedMediaTypes=ACCEPTED.split(", "), **where),
        )
    except NotChecked as fault:
        if fault.action and is_provider(account):
            raise NotChecked(f"{fault}; AWS owns the image", fault.action) from None
        raise
    except AwsRefused as refusal:
        if refusal.code not in _NO_IMAGE:
            raise
        return _absent_image(calls, reference, uri, f"its repository does not exist in account {account}")
    image = next(iter(items(found, "images")), None)
    if image is None:
        code = member(next(iter(items(found, "failures")), None), "failureCode")
        if code not in ("ImageNotFound", "ImageTagDoesNotMatchDigest"):
            raise NotChecked(f"Amazon ECR does not return it: {code or 'no reason was given'}")
        return _absent_image(calls, reference, uri, "does not exist in its repository")
    return _of_platform(calls, image, uri, platforms, partial(client.get_download_url_for_layer, **where))


def _absent_image(calls: PreflightCalls, reference: ImageReference, uri: str, text: str) -> Answer:
    absent = _absent(calls, "ecr", IMAGE, uri, text)
    if is_provider(reference.account or ""):  # such a registry shows others what they may pull
        raise NotChecked(f"{text}, as far as AWS shows its own images")
    try:
        rule = _pull_through_cache(calls, reference)
    except AwsRefused as refusal:
        raise NotChecked(f"{text}, and the rules of pull-through caches are unknown: {refusal}") from None
    except NotChecked as fault:
        raise NotChecked(f"{text}, unless a pull-through cache creates it: {fault}", fault.action) from None
    if rule:
        raise NotChecked(f"{text}; at the first pull, {rule}")
    return absent


def _pull_through_cache(calls: PreflightCalls, reference: ImageReference) -> str:
    """Return what creates an image of a registry when it is pulled; empty if no rule of a cache has its prefix."""
    client = calls.client("ecr", reference.region)
    token: dict[str, str] = {}
    for _ in range(_MOST_RULE_PAGES):
        page = calls.called(
            "read the pull-through cache rules",
            "ecr:DescribePullThroughCacheRules",
            partial(client.describe_pull_through_cache_rules, registryId=reference.account, maxResults=1000, **token),
        )
        for rule in items(page, "pullThroughCacheRules"):
            prefix = str(member(rule, "ecrRepositoryPrefix"))
            if prefix == "ROOT" or reference.repository.startswith(f"{prefix}/"):
                upstream = member(rule, "upstreamRegistryUrl")
                source = f" from `{upstream}`" if isinstance(upstream, str) and upstream else ""
                return f"the pull-through cache rule `{prefix}` may copy it{source}"
        following = page.get("nextToken")
        if not isinstance(following, str) or not following or following == token.get("nextToken"):
            if not isinstance(page.get("pullThroughCacheRules"), list):
                raise NotChecked("the response of Amazon ECR does not contain its rules")
            return ""
        token = {"nextToken": following}
    raise NotChecked(f"Amazon ECR lists more than {_MOST_RULE_PAGES} pages of rules")


def _of_platform(
    calls: PreflightCalls, image: object, uri: str, platforms: tuple[str, ...], link: partial[dict[str, Any]]
) -> Answer:
    """Compare the platform of an image that exists with that of the hosts."""
    try:
        manifest = read_manifest(
            str(member(image, "imageManifest")).encode(), str(member(image, "imageManifestMediaType")), ""
        )
        found = manifest.platforms if manifest.config is None else _platforms(calls, manifest, link)
    except NotChecked as fault:
        raise NotChecked(f"it exists, but its platform is unknown: {fault}", fault.action) from None
    except WireFault as fault:
        raise NotChecked(f"it exists, but its platform is unknown: {fault}") from None
    if not found:
        raise NotChecked("it exists, but its platform is unknown: it names none")
    if platforms and not any(has_platform(found, platform) for platform in platforms):
        return wrong(IMAGE, uri, f"is for {shown(found)}, but the instances are {' or '.join(platforms)}")
    return ok(IMAGE, uri, f"exists, for {shown(found)}")


def _platforms(calls: PreflightCalls, manifest: Manifest, link: partial[dict[str, Any]]) -> tuple[str, ...]:
    """Return the platform in the config of an image, which S3 keeps for Amazon ECR."""
    blob = manifest.config
    assert blob is not None  # of an image, not of an index
    answer = calls.called(
        "find the config of the image", "ecr:GetDownloadUrlForLayer", lambda: link(layerDigest=blob.digest)
    )
    found = config_platform(calls.download(str(member(answer, "downloadUrl")), _LARGEST_CONFIG), blob)
    return (found,) if found else ()


def resource_questions(
    calls: PreflightCalls,
    payloads: Sequence[Mapping[str, Any]],
    source_key: str | None,
    secrets: Mapping[str, str],
    account: str,
) -> Iterator[AwsQuestion]:
    """Yield the questions about what the requests of a job name; only their hosts differ.

    ``source_key``: of the source in S3. ``secrets``: variable → ARN. ``account``: of the caller, empty if unknown.
    """
    payload = payloads[0]
    volumes = (member(each, "ResourceConfig", "VolumeKmsKeyId") for each in payloads)
    keys = (source_key, member(payload, "OutputDataConfig", "KmsKeyId"), *volumes)
    for key in dict.fromkeys(each for each in keys if isinstance(each, str) and each):
        yield AwsQuestion(kind=KEY, name=key, waits_for="KMS", ask=partial(_key, calls, key))
    subnets, groups = (
        [each for each in items(payload, "VpcConfig", name) if isinstance(each, str)]
        for name in ("Subnets", "SecurityGroupIds")
    )
    if subnets or groups:
        yield AwsQuestion(
            kind=NETWORK, name="", waits_for="EC2 about the network", ask=partial(_network, calls, subnets, groups)
        )
    for kind, system in dict.fromkeys(_file_systems(payload)):
        yield AwsQuestion(
            kind=FILE_SYSTEM,
            name=system,
            waits_for=f"{kind} about `{system}`",
            ask=partial(_file_system, calls, kind, system),
        )
    for secret in dict.fromkeys(found for text in secrets.values() if (found := secret_reference(text))):
        # What a different account shares is not among the parameters of the caller.
        if secret.is_secret or secret.account == account:
            yield AwsQuestion(
                kind=SECRET,
                name=secret.arn,
                waits_for="Secrets Manager" if secret.is_secret else "Parameter Store",
                ask=partial(_secret, calls, secret),
            )


def _key(calls: PreflightCalls, key: str) -> Answer:
    arn = parsed_arn(key)
    if arn is not None and arn.region != calls.region:
        return wrong(KEY, key, f"is in {arn.region}, but the job runs in {calls.region}")
    client = calls.client("kms")
    try:
        found = calls.called(f"read the key `{key}`", "kms:DescribeKey", lambda: client.describe_key(KeyId=key))
    except AwsRefused as refusal:
        if refusal.code not in ("NotFoundException", "InvalidArnException"):
            raise
        return _absent(calls, "kms", KEY, key, f"does not exist in {calls.region}")
    described = found.get("KeyMetadata")
    state, spec = member(described, "KeyState"), member(described, "KeySpec")
    if not isinstance(state, str):
        raise NotChecked("the response of KMS does not describe it")
    if state not in _USABLE:
        return wrong(KEY, key, f"is {state}, not Enabled", SURROUNDINGS_AT_FAULT)
    if spec is not None and spec != _ENCRYPTS:
        return wrong(KEY, key, f"is of the type {spec}; S3 and volumes need a symmetric key for encryption")
    owner = member(described, "AWSAccountId")
    return ok(KEY, key, f"is {state}, in account {owner}" if owner else f"is {state}")


def _network(calls: PreflightCalls, subnets: list[str], groups: list[str]) -> Answer:
    client = calls.client("ec2")
    names = f"{_named(subnets)} and {_named(groups)}"
    try:
        of_subnets = calls.called(
            "read the subnets", "ec2:DescribeSubnets", lambda: client.describe_subnets(SubnetIds=subnets)
        )
        of_groups = calls.called(
            "read the security groups",
            "ec2:DescribeSecurityGroups",
            lambda: client.describe_security_groups(GroupIds=groups),
        )
    except AwsRefused as refusal:
        if refusal.code.partition(".")[0] not in ("InvalidSubnetID", "InvalidGroup", "InvalidGroupId"):
            raise
        return _absent(calls, "ec2", NETWORK, names, f"{refusal.message} (in {calls.region})")
    found = [*_vpcs(of_subnets, "Subnets", "SubnetId"), *_vpcs(of_groups, "SecurityGroups", "GroupId")]
    lacking = [each for each in (*subnets, *groups) if each not in dict(found)]
    if lacking:
        raise NotChecked(f"the response of EC2 does not contain {_named(lacking)}")
    vpcs = dict.fromkeys(vpc for _, vpc in found)
    if len(vpcs) > 1:
        of = (f"{vpc}: {_named([name for name, its in found if its == vpc])}" for vpc in vpcs)
        return wrong(NETWORK, names, f"are in different VPCs: {'; '.join(of)}")
    return ok(NETWORK, names, f"are in {next(iter(vpcs))}")


def _vpcs(answer: dict[str, Any], name: str, identity: str) -> Iterator[tuple[str, str]]:
    for each in items(answer, name):
        yield str(member(each, identity)), str(member(each, "VpcId"))


def _named(names: list[str]) -> str:
    more = f", and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _file_systems(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for channel in items(payload, "InputDataConfig"):
        source = member(channel, "DataSource", "FileSystemDataSource")
        kind, system = member(source, "FileSystemType"), member(source, "FileSystemId")
        if isinstance(system, str):
            yield "EFS" if kind == "EFS" else "FSx", system


def _file_system(calls: PreflightCalls, kind: str, system: str) -> Answer:
    service, action, name = _SYSTEMS[kind]
    client = calls.client(service)
    named: dict[str, Any] = {"FileSystemId": system} if kind == "EFS" else {"FileSystemIds": [system]}
    try:
        found = calls.called(f"read the file system `{system}`", action, partial(client.describe_file_systems, **named))
    except AwsRefused as refusal:
        if refusal.code != "FileSystemNotFound":
            raise
        return _absent(calls, service, FILE_SYSTEM, system, f"does not exist in {calls.region}")
    described = next((each for each in items(found, "FileSystems") if member(each, "FileSystemId") == system), None)
    state = member(described, name)
    if not isinstance(state, str):
        raise NotChecked(f"the response of {kind} does not describe it")
    # An FSx file system that is being updated can be mounted.
    if state.lower() not in ("available", "updating"):
        return wrong(FILE_SYSTEM, system, f"is {state}, not available", SURROUNDINGS_AT_FAULT)
    return ok(FILE_SYSTEM, system, f"is {state.lower()}")


def _secret(calls: PreflightCalls, secret: SecretReference) -> Answer:
    """Look at a secret, or at a parameter, without its value."""
    if secret.is_secret:
        client = calls.client("secretsmanager", secret.region)
        try:
            found = calls.called(
                f"describe the secret `{secret.arn}`",
                "secretsmanager:DescribeSecret",
                lambda: client.describe_secret(SecretId=secret.arn),
            )
        except AwsRefused as refusal:
            if refusal.code != "ResourceNotFoundException":
                raise
            return _absent(calls, "secretsmanager", SECRET, secret.arn, "does not exist")
        if found.get("DeletedDate") is not None:
            return wrong(SECRET, secret.arn, "is scheduled for deletion", SURROUNDINGS_AT_FAULT)
        if not isinstance(found.get("ARN"), str):
            raise NotChecked("the response of Secrets Manager does not describe it")
        return ok(SECRET, secret.arn, "exists")
    client, names = calls.client("ssm", secret.region), (secret.name, f"/{secret.name}")
    found = calls.called(
        f"describe the parameter `{secret.arn}`",
        "ssm:DescribeParameters",
        lambda: client.describe_parameters(ParameterFilters=[{"Key": "Name", "Option": "Equals", "Values": [*names]}]),
    )
    if not isinstance(found.get("Parameters"), list):
        raise NotChecked("the response of Parameter Store is not a list")
    if not items(found, "Parameters"):
        return _absent(calls, "ssm", SECRET, secret.arn, "does not exist")
    return ok(SECRET, secret.arn, "exists")


def _absent(calls: PreflightCalls, service: str, kind: str, name: str, text: str) -> Answer:
    """Return that something does not exist. An emulator may lack what only AWS has."""
    emulator = calls.emulator(service)
    if emulator:
        raise NotChecked(f"`{emulator}`, which is not AWS, does not have it")
    return wrong(kind, name, text)
