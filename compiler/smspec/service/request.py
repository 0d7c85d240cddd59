"""A CreateTrainingJob request as the rules read it: what it asks for, however incomplete it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smspec.service.arns import Arn, NamedArn, named_arns, parsed_arn
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.instance_types import Storage, storage
from smspec.service.patterns import shown, time
from smspec.service.s3_address import addresses
from smspec.service.shapes import items, member, number, structure
from smspec.source import Path
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from smspec.service.provided_images import ProvidedImage

IMAGE: Path = ("AlgorithmSpecification", "TrainingImage")

LISTS_OF_RULES = ("DebugRuleConfigurations", "ProfilerRuleConfigurations")
"""Rules of Debugger and Profiler: each is a container with the role of the job."""

DEFAULT_MAX_RUNTIME = 86_400
"""Seconds, if MaxRuntimeInSeconds is omitted (API shape StoppingCondition)."""

OWN_TAGS = "smspec:"
"""How the tags begin by which smspec identifies a job and its spec."""

DIGEST_TAG = f"{OWN_TAGS}digest"
"""The tag of a submitted job whose value identifies its request."""

S3_PREFIX = "S3Prefix"
"""The S3DataType of a channel whose address is the beginning of the names of its objects."""

_NAME = "ChannelName"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedChannel:
    """One item of InputDataConfig.

    ``mode`` is the effective input mode, its own or the job's; None if neither is set. ``path`` leads to the item,
    ``mode_path`` to the member that sets the mode.
    """

    index: int
    name: str
    mode: str | None
    mode_path: Path
    members: dict[str, object]

    @property
    def path(self) -> Path:
        return ("InputDataConfig", self.index)

    @property
    def label(self) -> str:
        """The name of the channel in a message."""
        return f"channel `{shown(self.name)}`" if self.name else "the channel"

    @property
    def s3(self) -> dict[str, object]:
        """The members of S3DataSource; empty if there is none."""
        return structure(self.members, "DataSource", "S3DataSource")

    @property
    def s3_data_type(self) -> object:
        return self.s3.get("S3DataType")

    @property
    def s3_path(self) -> Path:
        return (*self.path, "DataSource", "S3DataSource")

    @property
    def prefix(self) -> str | None:
        """The prefix of the keys that the channel reads; None if it has none, or names one object."""
        address = self.s3.get("S3Uri")
        return address if isinstance(address, str) and self.s3_data_type in (None, "S3Prefix") else None

    @property
    def is_stored_as_files(self) -> bool:
        """Whether SageMaker stores the objects below a prefix under the rest of their keys."""
        return self.prefix is not None and self.mode in (None, "File")

    @property
    def is_wrapped(self) -> bool:
        """Whether SageMaker makes each object, or each attribute, a record of RecordIO."""
        return self.members.get("RecordWrapperType") == "RecordIO"

    def wrapper_word(self, request: Request) -> str:
        """Return the name of the member that sets it, with that of the channel."""
        key = f"channels.{shown(self.name)}.record_wrapper"
        return request.word(f"RecordWrapperType of {self.label}".replace("`", ""), key)

    @property
    def file_system(self) -> dict[str, object]:
        """The members of FileSystemDataSource; empty if there is none."""
        return structure(self.members, "DataSource", "FileSystemDataSource")

    @property
    def file_system_path(self) -> Path:
        return (*self.path, "DataSource", "FileSystemDataSource")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The request to check. Anything may be missing from ``payload``, or have a wrong type.

    ``region`` is where the job is to run, None if unknown. ``in_spec_words``: the request was made from a spec, whose
    author knows the keys of the spec and not those of the API. ``launcher``: what the image starts the processes with,
    if that is known from elsewhere. ``tagged_image``: the image of the spec with its tag, which a digest replaces in
    the request. ``today``: the date that the organization states, or empty. ``queue``, ``priority``, ``attempts``: of
    the queue of AWS Batch that starts the job, None if there is none, or it does not say.
    """

    payload: dict[str, object]
    region: str | None = None
    in_spec_words: bool = False
    launcher: str | None = None
    tagged_image: str = ""
    today: str = ""
    queue: str | None = None
    priority: int | None = None
    attempts: int | None = None
    _found: dict[str, list[Any]] = field(default_factory=dict)

    def _once(self, name: str, find: Callable[[], Iterator[Any]]) -> list[Any]:
        """Return what several rules read; it is collected for the first one."""
        if name not in self._found:
            self._found[name] = [*find()]
        return self._found[name]

    def word(self, member: str, key: str) -> str:
        """Return the name that the author knows: ``member`` in a request, ``key`` in a spec."""
        return key if self.in_spec_words else member

    def time(self, seconds: int) -> str:
        """Return seconds as the author writes them: ``28,800 s`` in a request, ``8h`` in a spec."""
        return time(seconds, in_spec_words=self.in_spec_words)

    @property
    def algorithm(self) -> dict[str, object]:
        """The members of AlgorithmSpecification; empty if there is none."""
        return structure(self.payload, "AlgorithmSpecification")

    @property
    def channels(self) -> list[RequestedChannel]:
        """The channels, in order, without items that are not mappings."""
        return self._once("channels", self._channels)

    def _channels(self) -> Iterator[RequestedChannel]:
        of_job = member(self.payload, "AlgorithmSpecification", "TrainingInputMode")
        for index, item in enumerate(items(self.payload, "InputDataConfig")):
            if isinstance(item, dict):
                own = item.get("InputMode")
                mode = own if own is not None else of_job
                here: Path = ("InputDataConfig", index, "InputMode")
                yield RequestedChannel(
                    index=index,
                    name=str(item.get(_NAME, "")),
                    mode=mode if isinstance(mode, str) else None,
                    mode_path=here if own is not None else ("AlgorithmSpecification", "TrainingInputMode"),
                    members=item,
                )

    @property
    def instance_types(self) -> Iterator[tuple[Path, str]]:
        """Every instance type that the instances of the job may have, with its path."""
        hosts = structure(self.payload, "ResourceConfig")
        if isinstance(hosts.get("InstanceType"), str):
            yield ("ResourceConfig", "InstanceType"), str(hosts["InstanceType"])
        for name in ("InstanceGroups", "InstancePreferences"):
            for index, group in enumerate(items(hosts, name)):
                kind = member(group, "InstanceType")
                if isinstance(kind, str):
                    yield ("ResourceConfig", name, index, "InstanceType"), kind

    @property
    def rule_instances(self) -> Iterator[tuple[Path, str]]:
        """The instance type of every rule that sets one, with its path."""
        for name in LISTS_OF_RULES:
            for index, rule in enumerate(items(self.payload, name)):
                kind = member(rule, "InstanceType")
                if isinstance(kind, str):
                    yield (name, index, "InstanceType"), kind

    @property
    def host_count(self) -> int | None:
        """The number of instances of the job, over all groups; None if it is not set, or only as preferences."""
        hosts = structure(self.payload, "ResourceConfig")
        groups = items(hosts, "InstanceGroups")
        counts = [number(holder, "InstanceCount") for holder in groups or [hosts]]
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if len(numbers) == len(counts) else None

    def hosts_of(self, channel: RequestedChannel) -> int | None:
        """The number of instances that get a channel: those of its instance groups, or all."""
        names = items(channel.s3, "InstanceGroupNames")
        if not names:
            return self.host_count
        groups = items(self.payload, "ResourceConfig", "InstanceGroups")
        counts = [number(group, "InstanceCount") for group in groups if member(group, "InstanceGroupName") in names]
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if numbers and len(numbers) == len(counts) else None

    @property
    def storages(self) -> set[Storage]:
        """The possible storage of the instances; empty without an instance type.

        SageMaker chooses one of the preferred types.
        """
        return {storage(kind) for _, kind in self.instance_types}

    @property
    def keep_alive(self) -> int:
        """Seconds for which the instances wait for the next job; 0: there is no warm pool."""
        return number(self.payload, "ResourceConfig", "KeepAlivePeriodInSeconds") or 0

    @property
    def uses_spot(self) -> bool:
        return self.payload.get("EnableManagedSpotTraining") is True

    @property
    def is_serverless(self) -> bool:
        return "ServerlessJobConfig" in self.payload

    @property
    def max_runtime(self) -> int | None:
        """Seconds the job may run, the API's default included; None if the value is not a number."""
        stopping = structure(self.payload, "StoppingCondition")
        return number(stopping, "MaxRuntimeInSeconds") if "MaxRuntimeInSeconds" in stopping else DEFAULT_MAX_RUNTIME

    @property
    def max_wait(self) -> int | None:
        """Seconds that a spot job may take in all; None if not set, or not a number."""
        return number(self.payload, "StoppingCondition", "MaxWaitTimeInSeconds")

    @property
    def role(self) -> Arn | None:
        """RoleArn parsed; None if it is not an ARN."""
        return parsed_arn(self.payload.get("RoleArn"))

    @property
    def image(self) -> ImageReference | None:
        """TrainingImage parsed; None if it is missing or not a reference."""
        text = self.algorithm.get("TrainingImage")
        return parsed_reference(text) if isinstance(text, str) else None

    @property
    def provided_image(self) -> ProvidedImage | None:
        """What is known of TrainingImage, if it is an image of AWS; None if it is not."""
        # Imported late: many jobs run an image of their own.
        from smspec.service.provided_images import provided_image

        image = self.image
        if image is None:
            return None
        is_tagged = image.digest is not None and self.tagged_image.startswith(f"{image.registry}/{image.repository}:")
        return provided_image(self.tagged_image if is_tagged else str(self.algorithm["TrainingImage"]))

    @property
    def access_mode(self) -> object:
        """How SageMaker reaches the registry of the image; Platform if not set."""
        return structure(self.algorithm, "TrainingImageConfig").get("TrainingRepositoryAccessMode", "Platform")

    @property
    def s3_addresses(self) -> list[tuple[Path, str]]:
        """Every S3 address of the request, with its path."""
        return self._once("s3_addresses", lambda: addresses(self.payload))

    @property
    def arns(self) -> list[NamedArn]:
        """Every ARN of the request except RoleArn and those in arguments and tags."""
        return self._once("arns", lambda: named_arns(self.payload))


def channels_in_s3(request: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the URI, and the S3DataType of each channel with data in S3."""
    for channel in request.get("InputDataConfig", ()):
        source = channel.get("DataSource", {}).get("S3DataSource")
        if source:
            yield channel["ChannelName"], source["S3Uri"], source["S3DataType"]


def tags_to_be(request: Mapping[str, Any], digest: str) -> dict[str, str]:
    """Return the tags that the job of a request has: those of the spec, and what identifies the request."""
    return {**{tag["Key"]: tag["Value"] for tag in request.get("Tags", ())}, DIGEST_TAG: digest}


def tagged(request: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return a request with all tags that its job has."""
    tags = tags_to_be(request, digest)
    return {**request, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
