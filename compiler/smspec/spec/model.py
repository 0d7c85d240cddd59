"""The job spec as values. The defaults of every key live here and nowhere else.

A field that is None or empty was not written and is not sent, unless a docstring says otherwise.
Sizes are bytes, durations seconds, unless a name says otherwise. Paths are relative to the directory of the
job's own file, with ``/``, whichever file of a chain of ``extends`` wrote them.
"""

from __future__ import annotations

from typing import Literal, Union

from smspec.source.frozen import dataclass, field


class BuildSteps:
    """The fields are those of the class that extends it."""

    __slots__ = ()

    run: tuple[str, ...]
    pre_install: tuple[str, ...]
    env: dict[str, str]
    build_args: dict[str, str]

    @property
    def commands(self) -> tuple[str, ...]:
        """The author's commands, which may change anything in the image."""
        return (*self.pre_install, *self.run)

    @property
    def build_variables(self) -> dict[str, str]:
        """The variables of the commands that install packages, with values."""
        return {**self.build_args, **self.env}


Delivery = Literal["image", "channel", "s3"]
InputMode = Literal["File", "FastFile", "Pipe"]
S3DataType = Literal["S3Prefix", "ManifestFile", "AugmentedManifestFile"]
S3DataDistribution = Literal["FullyReplicated", "ShardedByS3Key"]
Compression = Literal["None", "Gzip"]
RecordWrapper = Literal["None", "RecordIO"]
OutputCompression = Literal["GZIP", "NONE"]
FileSystemType = Literal["EFS", "FSxLustre"]
FileSystemAccess = Literal["ro", "rw"]
ArgsStyle = Literal["toolkit", "json", "flags", "none"]
HyperparameterEncoding = Literal["json", "json_strings", "raw"]
Read = Literal["chunks", "lines", "jsonlines", "csv", "recordio", "recordio_protobuf", "augmented", "tfrecord", "tar"]
JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSecret:
    """Where a secret of the build comes from: a variable of the author's environment, or a file. Exactly one is set."""

    env: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage(BuildSteps):
    """An image that smspec writes the Dockerfile of."""

    base: str
    platform: str = "linux/amd64"
    system_packages: tuple[str, ...] = ()
    python_packages: tuple[str, ...] = ()
    python_requirements: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    run: tuple[str, ...] = ()
    repository: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, BuildSecret] = field(default_factory=dict)
    user: str | None = None
    build_args: dict[str, str] = field(default_factory=dict)
    pre_install: tuple[str, ...] = ()
    env_prepend: dict[str, str] = field(default_factory=dict)

    @property
    def job_variables(self) -> dict[str, str]:
        """The variables that the image sets for the job; the base may add to the end of some."""
        return {**self.env_prepend, **self.env}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingImage:
    """An image that exists; nothing is built."""

    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The author's code. ``delivery`` None: see `JobSpec.delivery`."""

    dir: str
    delivery: Delivery | None = None
    s3: str | None = None
    kms_key: str | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptEntry:
    """Script mode: a Python file, a shell script or another executable of the source directory."""

    script: str
    args: tuple[str, ...] = ()
    args_style: ArgsStyle = "toolkit"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEntry:
    command: tuple[str, ...]
    args_style: ArgsStyle = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleEntry:
    """A function, ``package.module:function``, that the runtime calls with the job."""

    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PipeLoopEntry:
    """A handler, ``package.module:name``, that the runtime calls once per epoch with the streams of Pipe channels."""

    pipe_loop: str
    epochs: int | None = None
    read: dict[str, Read] = field(default_factory=dict)
    prefetch: int | None = None
    open_timeout: int | None = None


EntryPoint = Union[ScriptEntry, CommandEntry, ModuleEntry, PipeLoopEntry]
ENTRY_POINTS: dict[str, type[EntryPoint]] = {
    "script": ScriptEntry,
    "command": CommandEntry,
    "module": ModuleEntry,
    "pipe_loop": PipeLoopEntry,
}
"""The key that determines the kind of an entry point → its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    id: str
    type: FileSystemType
    path: str
    access: FileSystemAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One input channel. ``s3_data_type`` S3Prefix is sent even if it is not set. ``size``: the bytes in S3."""

    name: str
    s3: str | None = None
    file_system: FileSystem | None = None
    s3_data_type: S3DataType = "S3Prefix"
    attributes: tuple[str, ...] = ()
    distribution: S3DataDistribution | None = None
    instance_groups: tuple[str, ...] = ()
    input_mode: InputMode | None = None
    content_type: str | None = None
    compression: Compression | None = None
    record_wrapper: RecordWrapper | None = None
    shuffle_seed: int | None = None
    local: str | None = None
    size: int | None = None
    api: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroup:
    name: str
    instance_type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    max_wait: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A job queue of AWS Batch, and what decides the place of the job in it.

    ``attempts``: how often the queue starts the job at most; ``timeout``: seconds of each. ``preemptions``: after how
    many the queue ends the job.
    """

    name: str = ""
    priority: int | None = None
    share: str | None = None
    quota_share: str | None = None
    attempts: int | None = None
    timeout: int | None = None
    preemptions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAlternative:
    """What a job has in place of the keys of its `hosts` and of `spot`, where this sets them."""

    instance_type: str | None = None
    count: int | None = None
    volume: int | None = None
    spot: Spot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """``volume`` is in whole GB, as the API counts it. The job of an alternative has no ``any_of``."""

    instance_type: str | None = None
    count: int | None = None
    volume: int | None = None
    volume_kms_key: str | None = None
    keep_alive: int | None = None
    training_plan: str | None = None
    groups: tuple[InstanceGroup, ...] = ()
    any_of: tuple[HostAlternative, ...] = ()

    @property
    def total(self) -> int:
        """The number of hosts of the job, over all groups."""
        return sum(group.count for group in self.groups) if self.groups else self.count or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Torchrun:
    processes_per_host: int | Literal["auto"] = "auto"
    port: int = 7777


@dataclass(frozen=True, slots=True, kw_only=True)
class Mpi:
    processes_per_host: int | Literal["auto"] = "auto"
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterServer:
    framework: Literal["mxnet", "tensorflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmDataParallel:
    pass


Distribution = Union[Torchrun, Mpi, ParameterServer, SmDataParallel]
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "torchrun": Torchrun,
    "mpi": Mpi,
    "parameter_server": ParameterServer,
    "smdataparallel": SmDataParallel,
}
"""The name of a launcher in the spec and in the runtime → its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperparameter:
    """``text`` is what the author wrote, ``value`` its meaning; ``quoted``: it was written in quotes."""

    name: str
    value: object
    text: str = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    max_runtime: int | None = None
    max_pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    s3: str
    kms_key: str | None = None
    compression: OutputCompression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """``local`` None: SageMaker's own default, /opt/ml/checkpoints."""

    s3: str
    local: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    isolation: bool | None = None
    encrypt_inter_container: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    name: str
    regex: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """By how much numbers of an interrupted job may differ from those of an undisturbed one; None: not at all."""

    tolerance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredCheck:
    """A finding of ``rule`` at or below the spec path ``at`` (empty: anywhere) is expected, ``because`` of this."""

    rule: str
    because: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """One job, merged, with variables substituted and short forms expanded.

    ``image`` and ``hosts`` None: `api` sets AlgorithmName or ServerlessJobConfig instead. ``stopping`` None: one day is
    sent (86,400 s, the API's default).
    """

    name: str
    role: str
    output: Output
    description: str = ""
    region: str | None = None
    account: str | None = None
    image: BuiltImage | ExistingImage | None = None
    source: Source | None = None
    entry_point: EntryPoint | None = None
    input_mode: InputMode = "File"
    channels: tuple[Channel, ...] = ()
    hosts: Hosts | None = None
    distribution: Distribution | None = None
    hyperparameters: tuple[Hyperparameter, ...] = ()
    hyperparameter_encoding: HyperparameterEncoding = "json"
    environment: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    stopping: Stopping | None = None
    spot: Spot | None = None
    retries: int | None = None
    queue: Queue | None = None
    checkpoints: Checkpoints | None = None
    tensorboard: str | None = None
    network: Network | None = None
    metrics: tuple[Metric, ...] = ()
    tags: dict[str, str] = field(default_factory=dict)
    job_name: str | None = None
    api: JsonObject = field(default_factory=dict)
    rehearsal: Rehearsed | None = None
    ignored_checks: tuple[IgnoredCheck, ...] = ()

    @property
    def delivery(self) -> Delivery | None:
        """How the source reaches the container; None without a source.

        Default: image if smspec builds one, else channel.
        """
        if self.source is None:
            return None
        return self.source.delivery or ("image" if isinstance(self.image, BuiltImage) else "channel")

    def mode_of(self, channel: Channel) -> InputMode:
        """Return the input mode that applies to a channel."""
        return channel.input_mode or self.input_mode


def names_registry(repository: str) -> bool:
    """Return whether a repository begins with a registry, as Docker decides: its first part looks like a host name."""
    first, slash, _ = repository.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")
