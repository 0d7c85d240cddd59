"""What a policy requires of every job, or allows it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.instance_types import family, storage
from smspec.service.patterns import shown
from smspec.service.policy import Policy
from smspec.service.request import LISTS_OF_RULES, Request
from smspec.service.shapes import items, member, structure
from smspec.source import Path

_QUEUE: Path = ("queue",)

MISSING_TAG = Rule("SM740", "missing required tag", evidence="policy", needs_every_layer=True)

_MOST_NAMED = 8


def missing_tag(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job without a required tag, or with a value that is not allowed.

    Tags show who pays for a job, and who is responsible for it.
    """
    tags = {
        member(tag, "Key"): (index, member(tag, "Value")) for index, tag in enumerate(items(request.payload, "Tags"))
    }
    for name, values in policy.required_tags.items():
        file = policy.file_of("required_tags", name)
        if name not in tags:
            yield MISSING_TAG.at(
                ("Tags",),
                f"`{file}` requires the tag `{name}` in `{request.word('Tags', 'tags')}`",
                help=_tag_help(values),
                on="key",
            )
        elif values and tags[name][1] not in values:
            yield MISSING_TAG.at(
                ("Tags", tags[name][0], "Value"),
                f"`{file}` does not allow `{shown(str(tags[name][1]))}` for the tag `{name}`",
                help=_tag_help(values),
            )


def _tag_help(values: tuple[str, ...]) -> str:
    return f"use {one_of(values)}" if 0 < len(values) <= _MOST_NAMED else "add the tag, or ask the policy owner"


DISALLOWED_INSTANCE_FAMILY = Rule("SM741", "disallowed instance family", evidence="policy")


def disallowed_instance_family(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject instances of families that are not allowed.

    Some instances cost a hundred times as much as others.
    """
    allowed = policy.allowed_instance_families
    if allowed is None:
        return
    for path, instance_type in (*request.instance_types, *request.rule_instances):
        name = family(instance_type)
        if name and name not in allowed:
            yield DISALLOWED_INSTANCE_FAMILY.at(
                path,
                f"`{policy.file_of('allowed_instance_families')}` does not allow the instance family `{name}`",
                help=_one_of_allowed(allowed),
            )


def _one_of_allowed(allowed: tuple[str, ...]) -> str:
    return f"use {one_of(allowed)}" if allowed else "ask the policy owner"


DISALLOWED_REGION = Rule("SM742", "disallowed region", evidence="policy")


def disallowed_region(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job in a region that is not allowed; without a region, use that of the image.

    Data must not leave the allowed regions.
    """
    allowed = policy.allowed_regions
    if allowed is None:
        return
    image = request.image
    region = request.region or (image.region if image else None)
    if region is not None and region not in allowed:
        yield DISALLOWED_REGION.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{policy.file_of('allowed_regions')}` does not allow the region `{region}`",
            help=_one_of_allowed(allowed),
        )


def _key_of_the_region(request: Request) -> Path | None:
    """Return the key that sets the region, which has no request member; None where the region is that of the image."""
    return None if request.region is None else ("region",)


DISALLOWED_REGISTRY = Rule("SM743", "disallowed registry", evidence="policy")

_HUB = "docker.io"

_HUBS = (None, "docker.io", "index.docker.io", "registry-1.docker.io")


def disallowed_registry(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject an image from a registry that is not allowed.

    Code that processes the data of an organization must come from trusted registries.
    """
    yield from _of_registry(("AlgorithmSpecification", "TrainingImage"), request.image, policy)
    for name in LISTS_OF_RULES:
        for index, rule in enumerate(items(request.payload, name)):
            image = member(rule, "RuleEvaluatorImage")
            if isinstance(image, str):
                yield from _of_registry((name, index, "RuleEvaluatorImage"), parsed_reference(image), policy)
    algorithm = request.algorithm.get("AlgorithmName")
    if policy.allowed_registries is not None and isinstance(algorithm, str):
        yield DISALLOWED_REGISTRY.at(
            ("AlgorithmSpecification", "AlgorithmName"),
            f"`{policy.file_of('allowed_registries')}` limits registries, and the image of the algorithm "
            f"`{shown(algorithm)}` is unknown",
            help="use an image, or ask the policy owner",
        )


def disallowed_base_registry(base: str, policy: Policy) -> Iterator[Finding]:
    """Reject, at its place in the spec, a base image from a registry that is not allowed."""
    yield from _of_registry(("image", "base"), parsed_reference(base), policy)


def _of_registry(path: Path, image: ImageReference | None, policy: Policy) -> Iterator[Finding]:
    allowed = policy.allowed_registries
    if allowed is None or image is None:
        return
    is_of_the_hub = image.registry in _HUBS
    registry = _HUB if is_of_the_hub else str(image.registry)
    # Docker Hub keeps images without an owner in their name under `library`.
    is_official = is_of_the_hub and "/" not in image.repository
    place = f"{registry}/{'library/' if is_official else ''}{image.repository}"
    if not any(f"{place}/".startswith(f"{entry.rstrip('/')}/") for entry in allowed):
        yield DISALLOWED_REGISTRY.at(
            path,
            f"`{policy.file_of('allowed_registries')}` does not allow images from `{registry}`",
            help=_one_of_allowed(allowed),
        )


STORAGE_WITHOUT_A_KMS_KEY = Rule("SM744", "storage without a KMS key", evidence="policy", needs_every_layer=True)


def storage_without_a_kms_key(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject an output, and a volume that can have one, without a KMS key.

    A customer managed key controls who can read what is stored, and can be revoked.
    """
    if not policy.require_kms:
        return
    if not member(request.payload, "OutputDataConfig", "KmsKeyId"):
        yield STORAGE_WITHOUT_A_KMS_KEY.at(
            ("OutputDataConfig", "KmsKeyId"),
            f"`{policy.file_of('require_kms')}` requires a KMS key, but "
            f"`{request.word('OutputDataConfig.KmsKeyId', 'output.kms_key')}` is not set",
            help="add the key, or ask the policy owner",
            on="key",
        )
    hosts = structure(request.payload, "ResourceConfig")
    types = [instance_type for _, instance_type in request.instance_types]
    # SageMaker encrypts local NVMe storage automatically, and rejects a key for it.
    may_have_key = bool(types) and all(storage(each) == "ebs" and family(each) for each in types)
    if may_have_key and not hosts.get("VolumeKmsKeyId"):
        yield STORAGE_WITHOUT_A_KMS_KEY.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"`{policy.file_of('require_kms')}` requires a KMS key, but "
            f"`{request.word('ResourceConfig.VolumeKmsKeyId', 'hosts.volume_kms_key')}` is not set",
            help="add the key, or ask the policy owner",
            on="key",
        )


JOB_OUTSIDE_A_VPC = Rule("SM745", "job outside a VPC", evidence="policy", needs_every_layer=True)


def job_outside_a_vpc(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job without subnets and security groups.

    Outside of a VPC a container can reach the whole Internet, bypassing the rules of the organization's network.
    """
    if policy.require_vpc and "VpcConfig" not in request.payload:
        file = policy.file_of("require_vpc")
        yield JOB_OUTSIDE_A_VPC.at(
            ("VpcConfig",),
            f"`{file}` requires a VPC, but `{request.word('VpcConfig', 'network')}` is not set",
            help="add subnets and security groups",
            on="key",
        )


def _key_of_the_network(_: Request) -> Path:
    """Return the key that sets the VPC, because the request has no member for it."""
    return ("network",)


MISSING_REQUIRED_BASE = Rule("SM751", "missing required base", evidence="policy", needs_every_layer=True)


def missing_required_base(files: Iterable[str], policy: Policy) -> Iterator[Finding]:
    """Reject a job none of whose files is a required base spec; paths are relative to the file with the policy."""
    extended = {posixpath.normpath(file.replace("\\", "/")) for file in files} if policy.require_base else set()
    for one in policy.require_base:
        home = posixpath.dirname(one.file.replace("\\", "/"))
        required = [posixpath.normpath(posixpath.join(home, name)) for name in one.names]
        if extended.isdisjoint(required):
            yield MISSING_REQUIRED_BASE.at(
                ("extends",),
                f"`{one.file}` requires jobs to extend {one_of(list(dict.fromkeys(required)))}",
                help="add it to `extends`",
            )


DISALLOWED_QUEUE = Rule("SM762", "disallowed queue", evidence="policy")


def disallowed_queue(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job in a queue that is not allowed.

    A queue decides with whom a job shares its capacity, and who pays for it.
    """
    allowed = policy.allowed_queues
    if allowed is not None and request.queue is not None and request.queue not in allowed:
        name = request.queue.rpartition(":job-queue/")[2]
        if name not in allowed:
            yield DISALLOWED_QUEUE.at(
                _QUEUE,
                f"`{policy.file_of('allowed_queues')}` does not allow the queue `{shown(name)}`",
                help=_one_of_allowed(allowed),
            )


MISSING_REQUIRED_QUEUE = Rule("SM763", "missing required queue", evidence="policy", needs_every_layer=True)


def missing_required_queue(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a spec without a queue where queues are listed.

    A job without one starts at once, before those that wait. A raw request says nothing about queues.
    """
    if policy.allowed_queues is not None and request.queue is None and request.in_spec_words:
        yield MISSING_REQUIRED_QUEUE.at(
            _QUEUE,
            f"`{policy.file_of('allowed_queues')}` lists queues, but `queue` is not set",
            help=f"set `queue` to {one_of(policy.allowed_queues)}" if policy.allowed_queues else "check the policy",
            on="key",
        )


PRIORITY_ABOVE_THE_LIMIT = Rule("SM764", "priority above the limit", evidence="policy")


def priority_above_the_limit(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a priority in a queue above the limit.

    The highest priority starts first, even if a different job has waited longer.
    """
    if policy.max_priority is not None and request.priority is not None and request.priority > policy.max_priority:
        yield PRIORITY_ABOVE_THE_LIMIT.at(
            (*_QUEUE, "priority"),
            f"`{policy.file_of('max_priority')}` allows the priority {policy.max_priority}, but `queue.priority` is "
            f"{request.priority}",
            help=f"reduce it to {policy.max_priority}, or ask the policy owner",
        )


RULES = {
    missing_tag: None,
    disallowed_instance_family: None,
    disallowed_region: _key_of_the_region,
    disallowed_registry: None,
    storage_without_a_kms_key: None,
    job_outside_a_vpc: _key_of_the_network,
    disallowed_queue: lambda _: _QUEUE,
    missing_required_queue: lambda _: _QUEUE,
    priority_above_the_limit: lambda _: (*_QUEUE, "priority"),
}
