"""ResourceConfig: the instances of the job, their volumes, and the processes that a launcher starts on them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.arns import parsed_arn
from smspec.service.facts import InstanceFacts, instance, lacks, table
from smspec.service.instance_types import family, storage
from smspec.service.patterns import member_name, shown
from smspec.service.request import Request
from smspec.service.request_rules import LAUNCHER
from smspec.service.runtime_settings import (
    documented_data_parallel,
    launched_instances,
    processes_per_host,
    pytorch_version,
    uses_data_parallel,
)
from smspec.service.shapes import items, number, repeated, structure
from smspec.source import Path

EBS_ONLY_INSTANCES_WITHOUT_A_VOLUME = Rule(
    "SM457", "EBS-only instances without a volume", evidence="api-doc", needs_every_layer=True
)


def ebs_only_instances_without_a_volume(request: Request) -> Iterator[Finding]:
    """Reject instance types without local storage where no volume size is set.

    Instances without local storage get a volume, and the request must set its size.
    """
    if (
        request.is_serverless
        or number(request.payload, "ResourceConfig", "VolumeSizeInGB")
        or not _needs_a_volume(request)
    ):
        return
    kind = next(kind for _, kind in request.instance_types if storage(kind) == "ebs")
    size = request.word("VolumeSizeInGB", "hosts.volume")
    yield EBS_ONLY_INSTANCES_WITHOUT_A_VOLUME.at(
        ("ResourceConfig", "VolumeSizeInGB"),
        f"`{size}` is not set; `{kind}` has no local storage",
        help=f"set `{size}` to an integer of GB, 1 or more",
        on="key",
    )


def _needs_a_volume(request: Request) -> bool:
    """Return whether some instance certainly has no local storage. SageMaker may choose any of the preferred types."""
    kinds = request.storages
    return kinds == {"ebs"} or ("ebs" in kinds and not items(request.payload, "ResourceConfig", "InstancePreferences"))


INSTANCE_TYPE_RARELY_AVAILABLE = Rule("SM352", "instance type rarely available", "warning", evidence="third-party")


def instance_type_rarely_available(request: Request) -> Iterator[Finding]:
    """Warn about ml.t3 instances.

    The API model lists burstable types; most regions do not offer them for training.
    """
    for path, kind in request.instance_types:
        if family(kind) == "t3":
            yield INSTANCE_TYPE_RARELY_AVAILABLE.at(
                path,
                f"`{shown(kind)}` is rarely available for training",
                help="use `ml.m5.large` or larger",
            )


MISSING_INSTANCE_COUNT = Rule("SM427", "missing instance count", evidence="inferred", needs_every_layer=True)


def missing_instance_count(request: Request) -> Iterator[Finding]:
    """Reject a ResourceConfig without a number of instances, unless the job is serverless.

    A job must set the number of instances.
    """
    yield from _missing(request, MISSING_INSTANCE_COUNT, "InstanceCount", "hosts.count")


def _missing(request: Request, rule: Rule, name: str, key: str) -> Iterator[Finding]:
    hosts = structure(request.payload, "ResourceConfig")
    if not hosts or request.is_serverless:
        return
    if not {name, "InstanceGroups", "InstancePreferences"} & hosts.keys():
        word, groups = request.word(name, key), request.word("InstanceGroups", "hosts.groups")
        yield rule.at(("ResourceConfig", name), f"`{word}` is not set", help=f"set `{word}`, or `{groups}`", on="key")


MISSING_INSTANCE_TYPE = Rule("SM426", "missing instance type", evidence="inferred", needs_every_layer=True)


def missing_instance_type(request: Request) -> Iterator[Finding]:
    """Reject a ResourceConfig without an instance type, unless the job is serverless.

    A job must set an instance type.
    """
    yield from _missing(request, MISSING_INSTANCE_TYPE, "InstanceType", "hosts.instance_type")


INSTANCE_GROUPS_WITH_AN_INSTANCE_TYPE = Rule(
    "SM425", "instance groups together with an instance type", evidence="service-message"
)


def instance_groups_with_an_instance_type(request: Request) -> Iterator[Finding]:
    """Reject InstanceGroups together with InstanceType or InstanceCount.

    A cluster has either one instance type or instance groups.
    """
    if not items(request.payload, "ResourceConfig", "InstanceGroups"):
        return
    groups = request.word("InstanceGroups", "hosts.groups")
    for name in ("InstanceType", "InstanceCount"):
        if name in structure(request.payload, "ResourceConfig"):
            yield INSTANCE_GROUPS_WITH_AN_INSTANCE_TYPE.at(
                ("ResourceConfig", name),
                f"{HERE} cannot be combined with `{groups}`",
                help="remove it: every group has its own",
                on="key",
            )


RESPONSE_ONLY_MEMBER = Rule("SM434", "response-only member", evidence="api-doc")


def response_only_member(request: Request) -> Iterator[Finding]:
    """Reject what SageMaker chose for a different job.

    Such members exist only in the output of DescribeTrainingJob.
    """
    for name in ("SelectedInstanceType", "SelectedInstanceCount"):
        if name in structure(request.payload, "ResourceConfig"):
            yield RESPONSE_ONLY_MEMBER.at(
                ("ResourceConfig", name),
                f"{HERE} exists only in DescribeTrainingJob output",
                help="remove it",
                on="key",
            )


DUPLICATE_INSTANCE_GROUP = Rule("SM456", "duplicate instance group", evidence="inferred")


def duplicate_instance_group(request: Request) -> Iterator[Finding]:
    """Reject two instance groups with one name.

    A channel refers to a group by name, so names must be unique.
    """
    for index, name in repeated(items(request.payload, "ResourceConfig", "InstanceGroups"), "InstanceGroupName"):
        yield DUPLICATE_INSTANCE_GROUP.at(
            ("ResourceConfig", "InstanceGroups", index, "InstanceGroupName"),
            f"duplicate instance group `{shown(name)}`",
            help="rename one of the groups",
        )


VOLUME_KEY_ALIAS = Rule("SM348", "alias as the key of a volume", "warning", evidence="api-doc")


def volume_key_alias(request: Request) -> Iterator[Finding]:
    """Warn about a VolumeKmsKeyId that is an alias or the ARN of one, where the volume has a key at all.

    The key of the output can be an alias, the key of the volume cannot.
    """
    key = structure(request.payload, "ResourceConfig").get("VolumeKmsKeyId")
    if isinstance(key, str) and _is_alias(key) and request.storages != {"nvme"}:
        yield VOLUME_KEY_ALIAS.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"`{request.word('VolumeKmsKeyId', 'hosts.volume_kms_key')}` is the alias `{shown(key)}`; "
            "expected a key ID or ARN",
            help="use the ID or ARN of the key",
        )


def _is_alias(key: str) -> bool:
    arn = parsed_arn(key)
    return (arn.resource if arn else key).startswith("alias/")


VOLUME_KEY_ON_HOSTS_WITH_LOCAL_STORAGE = Rule("SM458", "volume key on instances with local storage", evidence="api-doc")


def volume_key_on_hosts_with_local_storage(request: Request) -> Iterator[Finding]:
    """Reject VolumeKmsKeyId where every instance type has local storage. An empty key counts as not set.

    Local storage is encrypted with a key of its own hardware.
    """
    if request.storages == {"nvme"} and structure(request.payload, "ResourceConfig").get("VolumeKmsKeyId"):
        kind = next(kind for _, kind in request.instance_types)
        yield VOLUME_KEY_ON_HOSTS_WITH_LOCAL_STORAGE.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"{HERE} is not supported on `{shown(kind)}` (local NVMe storage)",
            help="remove the key: the hardware encrypts local storage",
            on="key",
        )


VOLUME_ON_HOSTS_WITH_LOCAL_STORAGE = Rule("SM347", "volume on hosts with local storage", "warning", evidence="api-doc")


def volume_on_hosts_with_local_storage(request: Request) -> Iterator[Finding]:
    """Warn about VolumeSizeInGB where every instance type has local storage.

    Instances with local storage get no volume.
    """
    if request.storages == {"nvme"} and number(request.payload, "ResourceConfig", "VolumeSizeInGB"):
        kind = next(kind for _, kind in request.instance_types)
        facts = instance(kind)
        size = f"{facts.nvme_gb:,} GB" if facts and facts.nvme_gb else "storage of a fixed size"
        yield VOLUME_ON_HOSTS_WITH_LOCAL_STORAGE.at(
            ("ResourceConfig", "VolumeSizeInGB"),
            f"`{request.word('VolumeSizeInGB', 'hosts.volume')}` has no effect: `{shown(kind)}` uses local "
            "NVMe storage",
            help=f"remove it; `{shown(kind)}` has {size} for `/opt/ml` and `/tmp`",
            on="key",
        )


ZERO_INSTANCES = Rule("SM428", "zero instances", evidence="inferred")


def zero_instances(request: Request) -> Iterator[Finding]:
    """Reject a job, or an instance group, of 0 instances.

    DescribeTrainingJob returns 0 instances next to instance groups, so the model allows it; a request cannot set it.
    """
    hosts = structure(request.payload, "ResourceConfig")
    holders: list[tuple[Path, object]] = [((), hosts)]
    holders += ((("InstanceGroups", index), group) for index, group in enumerate(items(hosts, "InstanceGroups")))
    for here, holder in holders:
        if number(holder, "InstanceCount") == 0:
            yield ZERO_INSTANCES.at(
                ("ResourceConfig", *here, "InstanceCount"), f"{HERE} is 0; the minimum is 1", help="use 1 or more"
            )


INSTANCE_TYPE_NOT_IN_THE_REGION = Rule("SM392", "instance type not in the region", "warning", evidence="third-party")


def instance_type_not_in_the_region(request: Request) -> Iterator[Finding]:
    """Warn about types that EC2 lacked in the region on the date of the table; other regions are unknown.

    SageMaker has no instances of a type that EC2 does not offer in the region.
    """
    region = request.region
    if region is None:
        return
    for path, kind in request.instance_types:
        if lacks(region, kind):
            yield INSTANCE_TYPE_NOT_IN_THE_REGION.at(
                path,
                f"{member_name(path)}: EC2 has no `{kind.removeprefix('ml.')}` in `{region}`, "
                f"{table('ec2_not_offered').as_of}",
                help="use a different type or region, or check the offer of the region in the EC2 console",
            )


MORE_PROCESSES_THAN_DEVICES = Rule("SM389", "more processes than devices", "warning", evidence="third-party")


def more_processes_than_devices(request: Request) -> Iterator[Finding]:
    """Warn about more processes on a host than it has GPUs or Neuron cores, or without those, vCPUs.

    A process without a GPU or a Neuron core of its own fails, or waits for that of another.
    """
    launched = processes_per_host(request)
    if launched is None:
        return
    path, processes = launched
    for host in launched_instances(request):
        limit = _devices(host.facts)
        if limit is None or processes <= limit[0]:
            continue
        count, device = limit
        word = "`processes_per_host`" if path[-1] == "processes_per_host" else member_name(path)
        yield MORE_PROCESSES_THAN_DEVICES.at(
            path,
            f"{word} is {processes:,}, but `{host.kind}` has {count:,} {device}{'' if count == 1 else 's'}",
            help=f"set it to {count} or less" + (", or remove it: the default is one per device" if count > 1 else ""),
        )
        return


def _devices(facts: InstanceFacts) -> tuple[int, str] | None:
    """Return how many processes the instances have devices for; None if that is unknown."""
    if facts.gpus:
        return facts.gpus, "GPU"
    if facts.neuron_cores:
        return facts.neuron_cores, "Neuron core"
    if facts.gpus is None or facts.neuron_cores is None or facts.vcpus is None:
        return None
    return facts.vcpus, "vCPU"


UNSUPPORTED_HOSTS_OF_SMDATAPARALLEL = Rule("SM491", "unsupported hosts of smdataparallel", evidence="devguide")

_GPUS = 8


def unsupported_hosts_of_smdataparallel(request: Request) -> Iterator[Finding]:
    """Reject instances with Neuron cores, or with any other number of GPUs than eight.

    SageMaker's data parallelism library runs on instances with eight GPUs.
    """
    if not uses_data_parallel(request):
        return
    for host in launched_instances(request):
        if host.facts.gpus is not None and host.facts.gpus != _GPUS:
            yield UNSUPPORTED_HOSTS_OF_SMDATAPARALLEL.at(
                host.path,
                f"{HERE} is `{host.kind}`, but `smdataparallel` requires {_GPUS} GPUs",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
            )


SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION = Rule(
    "SM390", "smdataparallel outside its documentation", "warning", evidence="devguide"
)


def smdataparallel_outside_its_documentation(request: Request) -> Iterator[Finding]:
    """Warn about other instances with eight GPUs, and about newer images of PyTorch.

    SageMaker's data parallelism library is documented for few instance types, and up to one version of PyTorch.
    """
    if not uses_data_parallel(request):
        return
    documented = documented_data_parallel()
    for host in launched_instances(request):
        if host.facts.gpus == _GPUS and host.kind not in documented.types:
            yield SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION.at(
                host.path,
                f"{HERE}: `smdataparallel` might not support `{host.kind}`",
                help="use `ml.p4d.24xlarge` or `ml.p4de.24xlarge`, or a different launcher, such as `torchrun`",
                notes=(Note(f"the developer guide does not list this type, {documented.as_of}"),),
            )
    version = pytorch_version(request.image)
    last = ".".join(map(str, documented.last_version))
    if version is not None and version > documented.last_version:
        yield SMDATAPARALLEL_OUTSIDE_ITS_DOCUMENTATION.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"{HERE}: the last PyTorch with `smdataparallel` is {last}, {documented.as_of}",
            help=f"use a different launcher, such as `torchrun`, or an image of PyTorch {last} or earlier",
        )


RULES = {
    ebs_only_instances_without_a_volume: ("ResourceConfig",),
    instance_type_rarely_available: ("ResourceConfig",),
    missing_instance_count: ("ResourceConfig",),
    missing_instance_type: ("ResourceConfig",),
    instance_groups_with_an_instance_type: ("ResourceConfig.InstanceGroups",),
    response_only_member: ("ResourceConfig.SelectedInstanceType", "ResourceConfig.SelectedInstanceCount"),
    duplicate_instance_group: ("ResourceConfig.InstanceGroups",),
    volume_key_alias: ("ResourceConfig.VolumeKmsKeyId",),
    volume_key_on_hosts_with_local_storage: ("ResourceConfig.VolumeKmsKeyId",),
    volume_on_hosts_with_local_storage: ("ResourceConfig.VolumeSizeInGB",),
    zero_instances: ("ResourceConfig",),
    instance_type_not_in_the_region: ("ResourceConfig",),
    more_processes_than_devices: (LAUNCHER,),
    smdataparallel_outside_its_documentation: (LAUNCHER,),
    unsupported_hosts_of_smdataparallel: (LAUNCHER,),
}
