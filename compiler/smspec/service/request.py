"""A CreateTrainingJob request as the rules look at it: what it asks for, however incomplete it is."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.service.arns import Arn, parsed_arn
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.instance_families import Storage, storage
from smspec.service.member_names import shown, time
from smspec.service.members import items, member, number, structure
from smspec.service.s3_address import addresses
from smspec.source import Path
from smspec.source.frozen import dataclass

DEFAULT_MAX_RUNTIME = 86_400
"""Seconds, when MaxRuntimeInSeconds is left out (API shape StoppingCondition)."""

_NAME = "ChannelName"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedChannel:
    """One item of InputDataConfig. ``mode`` is the input mode in force, its own or the job's; None where none is said.

    ``path`` leads to the item, ``mode_path`` to the member that says the mode.
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
    def said(self) -> str:
        """What the channel is called in a message."""
        return f"channel `{shown(self.name)}`" if self.name else "the channel"

    @property
    def s3(self) -> dict[str, object]:
        """The members of S3DataSource; empty without one."""
        return structure(self.members, "DataSource", "S3DataSource")

    @property
    def s3_data_type(self) -> object:
        return self.s3.get("S3DataType")

    @property
    def s3_path(self) -> Path:
        return (*self.path, "DataSource", "S3DataSource")

    @property
    def file_system(self) -> dict[str, object]:
        """The members of FileSystemDataSource; empty without one."""
        return structure(self.members, "DataSource", "FileSystemDataSource")

    @property
    def file_system_path(self) -> Path:
        return (*self.path, "DataSource", "FileSystemDataSource")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be checked. Anything may be missing from ``payload``, or be of another type.

    ``region`` is where the job is to run, None when that is not known. ``in_spec_words`` tells that the request was
    made from a spec, whose author knows the keys of the spec and not those of the API.
    """

    payload: dict[str, object]
    region: str | None = None
    in_spec_words: bool = False

    def word(self, member: str, key: str) -> str:
        """Return how the author calls something: ``member`` in a request, ``key`` in a spec."""
        return key if self.in_spec_words else member

    def time(self, seconds: int) -> str:
        """Return seconds as the author writes them: ``28,800 s`` in a request, ``8h`` in a spec."""
        return time(seconds, in_spec_words=self.in_spec_words)

    @property
    def algorithm(self) -> dict[str, object]:
        """The members of AlgorithmSpecification; empty without one."""
        return structure(self.payload, "AlgorithmSpecification")

    @property
    def channels(self) -> list[RequestedChannel]:
        """The channels, in order; items that are no mappings are left out."""
        of_job = member(self.payload, "AlgorithmSpecification", "TrainingInputMode")
        found = []
        for index, item in enumerate(items(self.payload, "InputDataConfig")):
            if isinstance(item, dict):
                own = item.get("InputMode")
                mode = own if own is not None else of_job
                here: Path = ("InputDataConfig", index, "InputMode")
                found.append(
                    RequestedChannel(
                        index=index,
                        name=str(item.get(_NAME, "")),
                        mode=mode if isinstance(mode, str) else None,
                        mode_path=here if own is not None else ("AlgorithmSpecification", "TrainingInputMode"),
                        members=item,
                    )
                )
        return found

    @property
    def instance_types(self) -> Iterator[tuple[Path, str]]:
        """Every instance type that the hosts of the job may have, with its place."""
        hosts = structure(self.payload, "ResourceConfig")
        if isinstance(hosts.get("InstanceType"), str):
            yield ("ResourceConfig", "InstanceType"), str(hosts["InstanceType"])
        for name in ("InstanceGroups", "InstancePreferences"):
            for index, group in enumerate(items(hosts, name)):
                kind = member(group, "InstanceType")
                if isinstance(kind, str):
                    yield ("ResourceConfig", name, index, "InstanceType"), kind

    @property
    def host_count(self) -> int | None:
        """How many hosts the job has, groups added up; None where that is not said, or only as preferences."""
        hosts = structure(self.payload, "ResourceConfig")
        groups = items(hosts, "InstanceGroups")
        counts = [number(holder, "InstanceCount") for holder in groups or [hosts]]
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if len(numbers) == len(counts) else None

    def hosts_of(self, channel: RequestedChannel) -> int | None:
        """How many hosts get a channel: those of its instance groups, or all."""
        names = items(channel.s3, "InstanceGroupNames")
        if not names:
            return self.host_count
        groups = items(self.payload, "ResourceConfig", "InstanceGroups")
        counts = [number(group, "InstanceCount") for group in groups if member(group, "InstanceGroupName") in names]
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if numbers and len(numbers) == len(counts) else None

    @property
    def storages(self) -> set[Storage]:
        """What the hosts may keep their data on; empty where no type is said. Of preferred types one is had."""
        return {storage(kind) for _, kind in self.instance_types}

    @property
    def keep_alive(self) -> int:
        """Seconds for which the hosts wait for another job; 0: there is no warm pool."""
        return number(self.payload, "ResourceConfig", "KeepAlivePeriodInSeconds") or 0

    @property
    def uses_spot(self) -> bool:
        return self.payload.get("EnableManagedSpotTraining") is True

    @property
    def is_serverless(self) -> bool:
        return "ServerlessJobConfig" in self.payload

    @property
    def max_runtime(self) -> int | None:
        """Seconds the job may run, the API's default included; None where the value is no number."""
        stopping = structure(self.payload, "StoppingCondition")
        return number(stopping, "MaxRuntimeInSeconds") if "MaxRuntimeInSeconds" in stopping else DEFAULT_MAX_RUNTIME

    @property
    def max_wait(self) -> int | None:
        """Seconds that a spot job may take in all; None where that is not said, or is no number."""
        return number(self.payload, "StoppingCondition", "MaxWaitTimeInSeconds")

    @property
    def role(self) -> Arn | None:
        """RoleArn taken apart; None where it is no ARN."""
        return parsed_arn(self.payload.get("RoleArn"))

    @property
    def image(self) -> ImageReference | None:
        """TrainingImage taken apart; None without one, or where it is no reference."""
        text = self.algorithm.get("TrainingImage")
        return parsed_reference(text) if isinstance(text, str) else None

    @property
    def access_mode(self) -> object:
        """How SageMaker reaches the registry of the image; Platform where nothing is said."""
        return structure(self.algorithm, "TrainingImageConfig").get("TrainingRepositoryAccessMode", "Platform")

    @property
    def s3_addresses(self) -> Iterator[tuple[Path, str]]:
        """Every S3 address of the request, with its place."""
        return addresses(self.payload)
