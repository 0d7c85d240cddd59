"""Keys of the input data: `input_mode` and `channels`."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import ANYONE, API, AZURE, COG, KUBERNETES, SAGIFY, SDK, SKYPILOT, Row
from smspec.spec.keys.value_forms import NUMBER, PATCH, SIZE, TEXT, TEXTS, Named, Structure, word

_S3 = "InputDataConfig.*.DataSource.S3DataSource"
_FILES = "InputDataConfig.*.DataSource.FileSystemDataSource"

ROWS: tuple[Row, ...] = (
    Row(
        "input_mode",
        word(model.InputMode),
        "AlgorithmSpecification.TrainingInputMode",
        kind="data",
        called="input mode",
        group="data",
        irregular=True,
    ),
    Row(
        "channels",
        Named(model.Channel, short="s3"),
        "InputDataConfig",
        kind="data",
        called="channel",
        group="data",
        irregular=True,
        words={
            API: "ChannelName",
            SDK: "model_uri model_channel_name",
            SKYPILOT: "file_mounts",
            AZURE: "inputs",
            KUBERNETES: "volumes volumeMounts mountPath",
            COG: "weights",
            SAGIFY: "input_s3_dir",
            ANYONE: "data datasets",
        },
    ),
    Row(
        "channels.*.s3",
        TEXT,
        f"{_S3}.S3Uri",
        kind="data",
        called="where the data lie",
        words={
            API: "DataSource S3DataSource",
            SDK: "s3_data data_source",
            SKYPILOT: "store",
            KUBERNETES: "subPath",
            ANYONE: "uri url",
        },
    ),
    Row(
        "channels.*.file_system",
        Structure(model.FileSystem),
        _FILES,
        kind="data",
        irregular=True,
        words={KUBERNETES: "persistentVolumeClaim"},
    ),
    Row(
        "channels.*.file_system.id",
        TEXT,
        f"{_FILES}.FileSystemId",
        kind="data",
        called="file system",
    ),
    Row(
        "channels.*.file_system.type",
        word(model.FileSystemType),
        f"{_FILES}.FileSystemType",
        kind="data",
    ),
    Row(
        "channels.*.file_system.path",
        TEXT,
        f"{_FILES}.DirectoryPath",
        kind="data",
        called="directory of the file system",
    ),
    Row(
        "channels.*.file_system.access",
        word(model.FileSystemAccess),
        f"{_FILES}.FileSystemAccessMode",
        kind="security",
        called="access to the file system",
    ),
    Row(
        "channels.*.s3_data_type",
        word(model.S3DataType),
        f"{_S3}.S3DataType",
        kind="data",
        called="what the S3 URI means",
        irregular=True,
    ),
    Row(
        "channels.*.attributes",
        TEXTS,
        f"{_S3}.AttributeNames",
        kind="data",
        called="attributes",
        words={SDK: "attribute_names target_attribute_name"},
    ),
    Row(
        "channels.*.distribution",
        word(model.S3DataDistribution),
        f"{_S3}.S3DataDistributionType",
        kind="data",
        called="share of each host",
        words={ANYONE: "sharding shard"},
    ),
    Row(
        "channels.*.instance_groups",
        TEXTS,
        f"{_S3}.InstanceGroupNames",
        kind="data",
        called="instance groups that get the channel",
    ),
    Row(
        "channels.*.input_mode",
        word(model.InputMode),
        "InputDataConfig.*.InputMode",
        kind="data",
        called="input mode",
        words={API: "InputMode", AZURE: "mode"},
    ),
    Row("channels.*.content_type", TEXT, "InputDataConfig.*.ContentType", kind="data", called="content type"),
    Row(
        "channels.*.compression",
        word(model.Compression),
        "InputDataConfig.*.CompressionType",
        kind="data",
        called="compression",
    ),
    Row(
        "channels.*.record_wrapper",
        word(model.RecordWrapper),
        "InputDataConfig.*.RecordWrapperType",
        kind="data",
        called="record wrapper",
        words={SDK: "record_wrapping"},
    ),
    Row(
        "channels.*.shuffle_seed",
        NUMBER,
        "InputDataConfig.*.ShuffleConfig.Seed",
        kind="data",
        called="shuffle seed",
        words={ANYONE: "shuffle"},
    ),
    Row("channels.*.local", TEXT, kind="cosmetic"),
    Row("channels.*.size", SIZE, kind="cosmetic", words={ANYONE: "size_bytes data_size"}),
    Row(
        "channels.*.api",
        PATCH,
        kind="data",
        words={API: "ModelAccessConfig HubAccessConfig AcceptEula DatasetArn DatasetSource HubContentArn"},
    ),
)
