"""VpcConfig, network isolation, and encryption between hosts."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.facts import instance
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.shapes import items, structure

UNCHECKED_SECURITY_GROUPS = Rule("SM391", "unchecked security groups of EFA instances", "note", evidence="devguide")


def unchecked_security_groups(request: Request) -> Iterator[Finding]:
    """Note that several instances, each type of which has an adapter, need such a group.

    An Elastic Fabric Adapter works only between instances whose security group allows all traffic to itself.
    """
    count = request.host_count
    if count is None or count < 2 or not items(request.payload, "VpcConfig", "SecurityGroupIds"):
        return
    facts = [instance(kind) for _, kind in request.instance_types]
    if facts and all(each is not None and each.efa_interfaces for each in facts):
        word = request.word("SecurityGroupIds", "network.security_groups")
        yield UNCHECKED_SECURITY_GROUPS.at(
            ("VpcConfig", "SecurityGroupIds"),
            f"`{word}` is not checked: EFA requires all traffic within the group",
            help="check that its rules allow all traffic from and to the group",
            on="key",
        )


S3_CODE_DOWNLOAD_IN_NETWORK_ISOLATION = Rule(
    "SM363", "S3 code download in network isolation", "warning", evidence="third-party"
)


def s3_code_download_in_network_isolation(request: Request) -> Iterator[Finding]:
    """Warn about sagemaker_submit_directory in S3 where the container has no network.

    The toolkit downloads the code of a job over the network.
    """
    place = structure(request.payload, "HyperParameters").get("sagemaker_submit_directory")
    isolated = request.payload.get("EnableNetworkIsolation") is True
    if isolated and isinstance(place, str) and place.strip('"').startswith("s3://"):
        delivery = request.word(
            "a channel `code`, and `/opt/ml/input/data/code/sourcedir.tar.gz` here", "`source: {delivery: channel}`"
        )
        yield S3_CODE_DOWNLOAD_IN_NETWORK_ISOLATION.at(
            ("HyperParameters", "sagemaker_submit_directory"),
            f"`{request.word('EnableNetworkIsolation', 'network.isolation')}: true` blocks the S3 download of the code",
            help=f"use {delivery}",
        )


ENCRYPTION_ON_A_SINGLE_HOST = Rule("SM356", "inter-container encryption with one host", "warning", evidence="api-doc")


def encryption_on_a_single_host(request: Request) -> Iterator[Finding]:
    """Warn about EnableInterContainerTrafficEncryption on one host.

    A single host sends nothing to itself over the network.
    """
    if request.payload.get("EnableInterContainerTrafficEncryption") is True and request.host_count == 1:
        yield ENCRYPTION_ON_A_SINGLE_HOST.at(
            ("EnableInterContainerTrafficEncryption",),
            f"`{request.word('EnableInterContainerTrafficEncryption', 'network.encrypt_inter_container')}` "
            "has no effect with one host",
            help="remove it, or use more hosts",
        )


ISOLATED_CONTAINER_THAT_NEEDS_THE_NETWORK = Rule(
    "SM471", "network isolation of a container that needs the network", evidence="devguide"
)


def isolated_container_that_needs_the_network(request: Request) -> Iterator[Finding]:
    """Reject network isolation for Chainer and reinforcement learning containers of SageMaker.

    Some containers of SageMaker download what they run.
    """
    image = request.image
    if request.payload.get("EnableNetworkIsolation") is not True or image is None:
        return
    # Imported late: it reads the tables of images.
    from smspec.service.provided_images import needs_the_network

    if needs_the_network(image):
        yield ISOLATED_CONTAINER_THAT_NEEDS_THE_NETWORK.at(
            ("EnableNetworkIsolation",),
            f"{HERE} is not supported by the SageMaker container `{image.repository}`",
            help="remove it, or use a different image",
        )


MALFORMED_NETWORK_ID = Rule("SM357", "malformed subnet or security group ID", "warning", evidence="api-doc")

_KINDS = (
    ("Subnets", "network.subnets", "subnet", "subnet-"),
    ("SecurityGroupIds", "network.security_groups", "security group", "sg-"),
)


def malformed_network_id(request: Request) -> Iterator[Finding]:
    """Warn about ids without the prefix that EC2 uses.

    The API accepts any string as a subnet; EC2 does not.
    """
    for name, key, kind, prefix in _KINDS:
        for index, text in enumerate(items(request.payload, "VpcConfig", name)):
            if isinstance(text, str) and not text.startswith(prefix):
                yield MALFORMED_NETWORK_ID.at(
                    ("VpcConfig", name, index),
                    f"`{request.word(name, key)}`: `{shown(text)}` does not look like the ID of a {kind}",
                    help=f"use an ID that starts with `{prefix}`",
                )


REMOTE_DEBUG_IN_ISOLATION = Rule("SM358", "remote debugging in network isolation", "warning", evidence="inferred")


def remote_debug_in_isolation(request: Request) -> Iterator[Finding]:
    """Warn about EnableRemoteDebug in a container without a network.

    Remote debugging needs the network.
    """
    isolated = request.payload.get("EnableNetworkIsolation") is True
    if isolated and structure(request.payload, "RemoteDebugConfig").get("EnableRemoteDebug") is True:
        isolation = request.word("EnableNetworkIsolation", "network.isolation")
        yield REMOTE_DEBUG_IN_ISOLATION.at(
            ("RemoteDebugConfig", "EnableRemoteDebug"),
            f"`EnableRemoteDebug` has no effect with `{isolation}: true`",
            help=f"remove it, or `{isolation}`",
        )


DUPLICATE_NETWORK_ID = Rule("SM470", "duplicate subnet or security group", evidence="inferred")


def duplicate_network_id(request: Request) -> Iterator[Finding]:
    """Reject a subnet or a security group that is listed twice.

    Subnets and security groups are sets.
    """
    for name, kind in (("Subnets", "subnet"), ("SecurityGroupIds", "security group")):
        earlier: set[str] = set()
        for index, text in enumerate(items(request.payload, "VpcConfig", name)):
            if isinstance(text, str):
                if text in earlier:
                    yield DUPLICATE_NETWORK_ID.at(
                        ("VpcConfig", name, index), f"duplicate {kind} `{shown(text)}`", help="remove it, or fix the ID"
                    )
                earlier.add(text)


RULES = {
    unchecked_security_groups: ("VpcConfig",),
    s3_code_download_in_network_isolation: ("EnableNetworkIsolation",),
    encryption_on_a_single_host: ("EnableInterContainerTrafficEncryption",),
    isolated_container_that_needs_the_network: ("EnableNetworkIsolation",),
    malformed_network_id: ("VpcConfig",),
    remote_debug_in_isolation: ("RemoteDebugConfig",),
    duplicate_network_id: ("VpcConfig",),
}
