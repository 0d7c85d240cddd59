"""InputDataConfig: names, input modes, and formats of channels, and file systems."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.patterns import shown
from smspec.service.request import Request, RequestedChannel
from smspec.service.shapes import items, member, repeated, structure

CHANNEL_WITH_A_RELATIVE_DIRECTORY_NAME = Rule("SM484", "channel with a relative directory name", evidence="inferred")


def channel_with_a_relative_directory_name(request: Request) -> Iterator[Finding]:
    """Reject `.` and `..` as channel names.

    A channel is a directory below /opt/ml/input/data, and two names that the API accepts are other directories.
    """
    for channel in request.channels:
        if channel.name in (".", ".."):
            is_there = "/opt/ml/input/data itself" if channel.name == "." else "/opt/ml/input"
            yield CHANNEL_WITH_A_RELATIVE_DIRECTORY_NAME.at(
                (*channel.path, "ChannelName"),
                f"{HERE} cannot be `{channel.name}`: its directory is {is_there}",
                help="rename the channel, for example to `train`",
            )


CHANNEL_WITHOUT_EXACTLY_ONE_DATA_SOURCE = Rule(
    "SM430", "channel without exactly one data source", evidence="inferred", needs_every_layer=True
)

_SOURCES = frozenset({"S3DataSource", "FileSystemDataSource", "DatasetSource"})


def channel_without_exactly_one_data_source(request: Request) -> Iterator[Finding]:
    """Reject a channel with no data source, or with two.

    The API model does not require that DataSource has exactly one member.
    """
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = member(channel, "DataSource")
        if not isinstance(source, dict):
            continue
        count = len(_SOURCES & source.keys())
        if count == 1:
            continue
        name = member(channel, "ChannelName")
        label = f"channel `{shown(name)}`" if isinstance(name, str) else "the channel"
        yield CHANNEL_WITHOUT_EXACTLY_ONE_DATA_SOURCE.at(
            ("InputDataConfig", index, "DataSource"),
            f"{label} has {count} data sources; expected one" if count else f"{label} has no data source",
            help="set either an S3 URI or a file system",
        )


DATASET_WITHOUT_A_SERVERLESS_JOB = Rule("SM345", "dataset without a serverless job", "warning", evidence="inferred")


def dataset_without_a_serverless_job(request: Request) -> Iterator[Finding]:
    """Warn about DatasetSource in a job that is not serverless.

    Only jobs that customize models read datasets of a hub.
    """
    for channel in request.channels:
        if "DatasetSource" in structure(channel.members, "DataSource") and not request.is_serverless:
            yield DATASET_WITHOUT_A_SERVERLESS_JOB.at(
                (*channel.path, "DataSource", "DatasetSource"),
                f"{channel.label} uses `DatasetSource`, but the job is not serverless",
                help=f"use data in S3, or set `{request.word('ServerlessJobConfig', 'api.ServerlessJobConfig')}`",
                on="key",
            )


RELATIVE_DIRECTORY = Rule("SM445", "relative directory of a file system", evidence="api-doc")


def relative_directory(request: Request) -> Iterator[Finding]:
    """Reject a DirectoryPath that does not begin with `/`, or is not normalized.

    The directory of a file system is a path from its root.
    """
    for channel in request.channels:
        directory = channel.file_system.get("DirectoryPath")
        fault = _directory_fault(directory) if isinstance(directory, str) else ""
        if fault:
            yield RELATIVE_DIRECTORY.at(
                (*channel.file_system_path, "DirectoryPath"),
                f"{HERE} {fault}: `{shown(directory)}`",
                help="use an absolute path; on FSx for Lustre it begins with the mount name",
            )


def _directory_fault(directory: str) -> str:
    steps = directory.split("/")
    if not directory.startswith("/"):
        return "does not begin with `/`"
    if "//" in directory:
        return "contains `//`"
    return f"contains `{'..' if '..' in steps else '.'}`" if {".", ".."} & set(steps) else ""


FILE_SYSTEM_WITHOUT_FILE_MODE = Rule(
    "SM444", "file system without File mode", evidence="devguide", needs_every_layer=True
)


def file_system_without_file_mode(request: Request) -> Iterator[Finding]:
    """Reject a file system in a streaming mode.

    A mounted file system is read as files.
    """
    for channel in request.channels:
        if channel.file_system and channel.mode in ("Pipe", "FastFile"):
            yield _streamed(request, FILE_SYSTEM_WITHOUT_FILE_MODE, channel, "reads a file system")


def _streamed(request: Request, rule: Rule, channel: RequestedChannel, has: str) -> Finding:
    return rule.at(
        channel.mode_path,
        f"{HERE} is {channel.mode}, but {channel.label} {has}",
        help=f"set `{request.word('InputMode', 'input_mode')}: File` for the channel",
    )


FILE_SYSTEM_WITHOUT_VPC = Rule("SM443", "file system without a VPC", evidence="devguide", needs_every_layer=True)


def file_system_without_vpc(request: Request) -> Iterator[Finding]:
    """Reject channels that are file systems in a job without VpcConfig.

    A file system is mounted through its VPC.
    """
    mounted = [channel for channel in request.channels if channel.file_system]
    if mounted and "VpcConfig" not in request.payload:
        yield FILE_SYSTEM_WITHOUT_VPC.at(
            ("VpcConfig",),
            f"`{request.word('VpcConfig', 'network')}` is not set, but {mounted[0].label} reads a file system",
            help=f"set `{request.word('VpcConfig', 'network')}` to subnets and security groups that can reach it",
            cause=mounted[0].file_system_path,
        )


GZIP_WITHOUT_PIPE_MODE = Rule("SM448", "gzip without Pipe mode", evidence="api-doc", needs_every_layer=True)


def gzip_without_pipe_mode(request: Request) -> Iterator[Finding]:
    """Reject CompressionType Gzip in File and FastFile mode.

    SageMaker decompresses only streams.
    """
    for channel in request.channels:
        if channel.members.get("CompressionType") == "Gzip" and channel.mode in ("File", "FastFile"):
            yield GZIP_WITHOUT_PIPE_MODE.at(
                (*channel.path, "CompressionType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses {channel.mode} mode",
                help=f"remove `{request.word('CompressionType', 'compression')}` and decompress in the script,"
                f" or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )


MODEL_WITHOUT_FILE_MODE = Rule("SM453", "model channel without File mode", evidence="api-doc", needs_every_layer=True)

_MODEL_CONTENT = "application/x-sagemaker-model"


def model_without_file_mode(request: Request) -> Iterator[Finding]:
    """Reject the channel of an earlier model in a mode other than File.

    Incremental training opens the earlier model as files.
    """
    for channel in request.channels:
        if channel.members.get("ContentType") == _MODEL_CONTENT and channel.mode in ("Pipe", "FastFile"):
            yield _streamed(request, MODEL_WITHOUT_FILE_MODE, channel, "contains a model and requires File mode")


RECORD_IO_IN_FAST_FILE_MODE = Rule("SM340", "RecordIO in FastFile mode", "warning", evidence="inferred")


def record_io_in_fast_file_mode(request: Request) -> Iterator[Finding]:
    """Warn about RecordWrapperType RecordIO in FastFile mode.

    FastFile mode shows objects as files, so there is no stream to wrap.
    """
    for channel in request.channels:
        if channel.members.get("RecordWrapperType") == "RecordIO" and channel.mode == "FastFile":
            yield RECORD_IO_IN_FAST_FILE_MODE.at(
                (*channel.path, "RecordWrapperType"),
                f"`{request.word('RecordWrapperType', 'record_wrapper')}` has no effect: {channel.label} is in "
                "FastFile mode",
                help=f"remove it, or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )


RECORD_IO_IN_FILE_MODE = Rule("SM449", "RecordIO in File mode", evidence="api-doc")


def record_io_in_file_mode(request: Request) -> Iterator[Finding]:
    """Reject RecordWrapperType RecordIO in File mode.

    Files are copied unchanged: nothing is wrapped.
    """
    for channel in request.channels:
        if channel.members.get("RecordWrapperType") == "RecordIO" and channel.mode == "File":
            yield RECORD_IO_IN_FILE_MODE.at(
                (*channel.path, "RecordWrapperType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses File mode",
                help=f"remove `{request.word('RecordWrapperType', 'record_wrapper')}` if the data are RecordIO already,"
                f" or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )


DUPLICATE_CHANNEL = Rule("SM435", "duplicate channel", evidence="inferred")


def duplicate_channel(request: Request) -> Iterator[Finding]:
    """Reject two channels with one name.

    Two channels of one name would share one directory.
    """
    for index, name in repeated(items(request.payload, "InputDataConfig"), "ChannelName"):
        yield DUPLICATE_CHANNEL.at(
            ("InputDataConfig", index, "ChannelName"),
            f"duplicate channel `{shown(name)}`",
            help="rename or remove one of them",
        )


SHUFFLED_FILE_SYSTEM = Rule("SM341", "shuffled file system", "warning", evidence="api-doc")


def shuffled_file_system(request: Request) -> Iterator[Finding]:
    """Warn about ShuffleConfig on a file system.

    SageMaker shuffles only S3 objects.
    """
    for channel in request.channels:
        if channel.file_system and "ShuffleConfig" in channel.members:
            yield SHUFFLED_FILE_SYSTEM.at(
                (*channel.path, "ShuffleConfig"),
                f"`{request.word('ShuffleConfig', 'shuffle_seed')}` has no effect: {channel.label} uses a file system",
                help="remove it, and shuffle in the script",
                on="key",
            )


RULES = {
    channel_with_a_relative_directory_name: (),
    channel_without_exactly_one_data_source: (),
    dataset_without_a_serverless_job: ("InputDataConfig.DataSource.DatasetSource",),
    relative_directory: ("InputDataConfig.DataSource.FileSystemDataSource",),
    file_system_without_file_mode: ("InputDataConfig.DataSource.FileSystemDataSource",),
    file_system_without_vpc: ("InputDataConfig.DataSource.FileSystemDataSource",),
    gzip_without_pipe_mode: ("InputDataConfig.CompressionType",),
    model_without_file_mode: ("InputDataConfig.ContentType",),
    record_io_in_fast_file_mode: ("InputDataConfig.RecordWrapperType",),
    record_io_in_file_mode: ("InputDataConfig.RecordWrapperType",),
    duplicate_channel: (),
    shuffled_file_system: ("InputDataConfig.DataSource.FileSystemDataSource",),
}
