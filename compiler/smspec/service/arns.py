"""The ARNs in a request, and the partitions of AWS: which regions, ARNs, and registries belong together.

A request never leaves its partition. The table of partitions is that of botocore, which every SDK of AWS finds its
endpoints with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from urllib.parse import SplitResult, urlsplit

from smspec.diagnostics.suggestions import nearest
from smspec.service.facts import Table, table
from smspec.service.shapes import items, member
from smspec.source import Path
from smspec.source.frozen import ByIdentity, dataclass

_SINGLE: tuple[tuple[str, ...], ...] = (
    ("AlgorithmSpecification", "AlgorithmName"),
    (
        "AlgorithmSpecification",
        "TrainingImageConfig",
        "TrainingRepositoryAuthConfig",
        "TrainingRepositoryCredentialsProviderArn",
    ),
    ("OutputDataConfig", "KmsKeyId"),
    ("ResourceConfig", "VolumeKmsKeyId"),
    ("ResourceConfig", "TrainingPlanArn"),
    ("ModelPackageConfig", "ModelPackageGroupArn"),
    ("MlflowConfig", "MlflowResourceArn"),
    ("ModelPackageConfig", "SourceModelPackageArn"),
    ("ServerlessJobConfig", "BaseModelArn"),
    ("ServerlessJobConfig", "EvaluatorArn"),
)
_OF_CHANNELS = (
    ("DataSource", "S3DataSource", "HubAccessConfig", "HubContentArn"),
    ("DataSource", "DatasetSource", "DatasetArn"),
)
_HOLDERS = tuple(dict.fromkeys((*(path[0] for path in _SINGLE), "InputDataConfig")))
# The resources of these may be elsewhere: no public source requires a hub or a source package in the region of the job.
_MAY_LIE_ELSEWHERE = frozenset({"SourceModelPackageArn", "BaseModelArn", "EvaluatorArn", "HubContentArn", "DatasetArn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Arn:
    """The parts of ``arn:partition:service:region:account:resource``; the region of a global resource is empty."""

    partition: str
    service: str
    region: str
    account: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedArn:
    """An ARN and the member that contains it. ``is_of_the_job``: its resource must be in the region of the job."""

    path: Path
    arn: Arn
    is_of_the_job: bool


_FOUND: ByIdentity[list[NamedArn]] = ByIdentity()  # jobs share most members


def parsed_arn(text: object) -> Arn | None:
    """Parse an ARN; None if it is not one."""
    parts = text.split(":", 5) if isinstance(text, str) else []
    if len(parts) < 6 or parts[0] != "arn":
        return None
    return Arn(partition=parts[1], service=parts[2], region=parts[3], account=parts[4], resource=parts[5])


def named_arns(payload: dict[str, object]) -> Iterator[NamedArn]:
    """Yield every ARN of a request except RoleArn and those in arguments and tags."""
    for name in _HOLDERS:
        if name in payload:
            yield from _FOUND.of(name, payload[name], partial(_named_arns, name, payload[name]))


def _named_arns(name: str, value: object) -> list[NamedArn]:
    """Return the ARNs in a member of a request."""
    return [
        NamedArn(path=path, arn=arn, is_of_the_job=_MAY_LIE_ELSEWHERE.isdisjoint(map(str, path)))
        for path, text in _texts(name, value)
        if (arn := parsed_arn(text)) is not None
    ]


def _texts(name: str, value: object) -> Iterator[tuple[Path, object]]:
    for path in _SINGLE:
        if path[0] == name:
            yield path, member(value, *path[1:])
    if name == "ResourceConfig":
        for index, preference in enumerate(items(value, "InstancePreferences")):
            for position, plan in enumerate(items(preference, "TrainingPlanArns")):
                yield ("ResourceConfig", "InstancePreferences", index, "TrainingPlanArns", position), plan
    if name == "InputDataConfig":
        for index, channel in enumerate(items(value)):
            for steps in _OF_CHANNELS:
                yield ("InputDataConfig", index, *steps), member(channel, *steps)


_OF_CUSTOMERS = r"(?:^|\.)(?:elb|compute|compute-1|execute-api|vpce-svc-[0-9a-f]+)\."
"""Labels of host names in the domains of AWS that lead to servers of its customers, such as an emulator."""

_ENDPOINTS = {
    "s3": (r"(?:bucket|accesspoint)\.vpce", r"s3(?:-fips)?(?:\.dualstack)?[.-]"),
    "sagemaker": ("vpce", r"api(?:-fips)?\.sagemaker(?:-fips)?\."),
    "logs": ("vpce", r"logs(?:-fips)?\."),
    "batch": ("vpce", r"(?:fips\.)?batch(?:-fips)?\."),
}
"""How the hosts of a service begin: those of VPC endpoints, and what precedes the region; old ones of S3 have `-`."""

_OTHERS_OF_S3 = {
    "s3.amazonaws.com": "",
    "s3-accelerate.amazonaws.com": "",
    "s3-accelerate.dualstack.amazonaws.com": "",
    "s3-external-1.amazonaws.com": "us-east-1",
}
"""Endpoints of S3 of the commercial partition whose hosts have no region, with the region that they are in."""

_DIRECTIONS = ("north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest")

DEFAULT_SUFFIX = "amazonaws.com"
"""The DNS suffix of a region that no partition is known for: that of the commercial one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """``name`` is the second field of its ARNs. ``regions`` are those of the table; ``pattern`` fits new ones too.

    ``suffixes`` of host names: the usual one, and that of hosts with IPv6 too.
    """

    name: str
    suffixes: tuple[str, str]
    pattern: str
    regions: tuple[str, ...]

    @property
    def dns_suffix(self) -> str:
        return self.suffixes[0]


@cache
def partitions() -> tuple[Partition, ...]:
    """Return every partition of the table."""
    return tuple(
        Partition(
            name=row["partition"],
            suffixes=(row["dns_suffix"], row["dual_stack_suffix"]),
            pattern=row["region_pattern"],
            regions=tuple(row["regions"].split(" ")),
        )
        for row in regions_table().rows()
    )


def regions_table() -> Table:
    return table("partitions")


@lru_cache(maxsize=64)  # jobs share regions
def partition_of(region: str) -> Partition | None:
    """Return the partition of a region, also of one that is newer than the table; None if its name fits none."""
    listed = next((each for each in partitions() if region in each.regions), None)
    return listed or next((each for each in partitions() if re.fullmatch(each.pattern, region)), None)


def is_listed(region: str) -> bool:
    """Return whether the table has a region."""
    return any(region in each.regions for each in partitions())


def nearest_region(name: str) -> str | None:
    """Return the listed region that a name is probably meant for."""
    listed = [region for each in partitions() for region in each.regions]
    # One digit too many or too few is likelier than a different direction.
    stem = name.rstrip("0123456789")
    siblings = [region for region in listed if region.rstrip("0123456789") == stem]
    return nearest(name, siblings) or nearest(name, listed)


def dns_suffix(region: str) -> str:
    """Return the suffix of the host names of a region."""
    found = partition_of(region)
    return found.dns_suffix if found else DEFAULT_SUFFIX


def meant_region(name: str) -> str | None:
    """Return the region that is meant by a name with a misspelled direction, which new regions have too; else None."""
    match = re.fullmatch(r".+-([a-z]+)-[0-9]+", name)
    return None if match is None or match[1] in _DIRECTIONS else nearest_region(name)


def registry_suffix(region: str, *, is_dual_stack: bool) -> str | None:
    """Return the suffix of the registries of a region, which follows its name; None if no partition has it."""
    found = partition_of(region)
    if found is None:
        return None
    # Dual-stack registries are at `on.aws` where the other services are at `api.aws`.
    return re.sub(r"^api\.", "on.", found.suffixes[1]) if is_dual_stack else found.dns_suffix


def region_of_endpoint(url: str, service: str) -> str | None:
    """Return the region of an endpoint of AWS for `s3`, `sagemaker`, `logs`, or `batch`; None for others.

    It is empty for the endpoint of S3 for all regions. Only exact forms count: the host of a bucket, or a path,
    leads to objects that pose as responses, and without a certificate any server does. Raise `ValueError` for a
    malformed port.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removesuffix(".").lower()
    if parts.path not in ("", "/") or parts.query or not is_at_own_port(parts):
        return None
    private, public = _ENDPOINTS[service]
    for each in partitions():
        suffixes = "|".join(map(re.escape, each.suffixes))
        form = rf"(?P<vpce>{private}-[a-z0-9-]+\.)?{public}(?P<region>[a-z0-9-]+)(?(vpce)\.vpce)\.(?:{suffixes})"
        match = re.fullmatch(form, host)
        if match and partition_of(match["region"]) == each:
            return match["region"]
        # botocore has no endpoint for all regions with FIPS; this one is never called.
        if service == "s3" and host in (f"s3.{each.dns_suffix}", f"s3-fips.aws-global.{each.dns_suffix}"):
            return ""
    if service == "s3" and host in _OTHERS_OF_S3:
        return _OTHERS_OF_S3[host]
    return None


def is_at_own_port(parts: SplitResult) -> bool:
    """Return whether a URL has `https`, the port of it, and no user. Raise `ValueError` for a malformed port.

    Without a certificate, or at another port, anything on the way can answer for AWS.
    """
    return parts.scheme == "https" and parts.port in (None, 443) and "@" not in parts.netloc


def is_of_aws(host: str) -> bool:
    """Return whether a host is one of AWS, in any region or in none, as those of IAM are."""
    host = host.rstrip(".").lower()
    return re.search(_OF_CUSTOMERS, host) is None and host.endswith(_suffixes())


def is_of_another_partition(host: str, region: str) -> bool:
    """Return whether a host of AWS is in a partition that does not have a region; False for any other host."""
    host, here = host.rstrip(".").lower(), partition_of(region)
    if here is None or not is_of_aws(host):
        return False
    found = [each for label in host.split(".") if (each := _partition_in(label)) is not None]
    # A host without a region, as those of IAM: of two partitions with one suffix, the commercial one is the first.
    owner = next(each for each in partitions() if _has_suffix(host, each))
    return any(each != here for each in found or [owner]) or not _has_suffix(host, here)


def _has_suffix(host: str, partition: Partition) -> bool:
    return host.endswith(tuple(f".{suffix}" for suffix in partition.suffixes))


def _partition_in(label: str) -> Partition | None:
    """Return the partition of the region at the end of a label, as in `s3-fips-us-gov-west-1`, or that it names."""
    named = next((each for each in partitions() if f"aws-{label}" == each.name), None)
    if named is not None:
        return named
    words = label.split("-")
    ends = ("-".join(words[at:]) for at in range(len(words)))
    return next((found for end in ends if (found := partition_of(end)) is not None), None)


@cache
def _suffixes() -> tuple[str, ...]:
    return tuple(f".{suffix}" for each in partitions() for suffix in each.suffixes)
