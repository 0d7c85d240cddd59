"""The channels, data, and instances that built-in algorithms require."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.built_in_algorithm import built_in_algorithm, meant_channels, missing_channels, script_of_aws
from smspec.service.facts import instance
from smspec.service.facts.algorithms import as_of
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.shapes import items, structure
from smspec.source import Path

CONTENT_TYPE_NOT_SET = Rule(
    "SM397", "content type of XGBoost data not set", "warning", evidence="devguide", needs_every_layer=True
)

_LIBSVM = ("libsvm", "svmlight", ".svm")


def content_type_not_set(request: Request) -> Iterator[Finding]:
    """Warn about a channel of XGBoost without a content type, unless its address says LIBSVM.

    XGBoost reads data without a content type as LIBSVM.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or algorithm.name != "xgboost":
        return
    for channel in request.channels:
        address = str(channel.s3.get("S3Uri", "")).lower()
        is_libsvm = any(word in address for word in _LIBSVM)
        if channel.name in algorithm.channels and not channel.members.get("ContentType") and not is_libsvm:
            word = request.word("ContentType", f"channels.{shown(channel.name)}.content_type")
            of = "" if request.in_spec_words else f" for {channel.label}"
            yield CONTENT_TYPE_NOT_SET.at(
                (*channel.path, "ContentType"),
                f"`{word}` is not set{of}: `xgboost` reads the data as LIBSVM",
                help="set it to `text/csv`, `text/libsvm`, or `application/x-parquet`",
                on="key",
            )


CPU_HOSTS_FOR_A_GPU_ALGORITHM = Rule("SM495", "CPU hosts for a GPU algorithm", evidence="devguide")


def cpu_hosts_for_a_gpu_algorithm(request: Request) -> Iterator[Finding]:
    """Reject instance types without a GPU for an algorithm that the guide lists with GPUs only.

    Some built-in algorithms train on GPUs only.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or "cpu" in algorithm.devices:
        return
    for path, kind in _first_of_all(request, with_gpus=False):
        yield CPU_HOSTS_FOR_A_GPU_ALGORITHM.at(
            path,
            f"{HERE} is `{kind}`, but `{algorithm.name}` requires GPUs",
            help="use a type with GPUs, such as `ml.g5.xlarge`",
        )


def _first_of_all(request: Request, *, with_gpus: bool) -> list[tuple[Path, str]]:
    """Return the first instance type if all are known to have GPUs, or all to have none."""
    kinds = [*request.instance_types]
    facts = [instance(kind) for _, kind in kinds]
    is_each = all(each is not None and each.gpus is not None and bool(each.gpus) == with_gpus for each in facts)
    return kinds[:1] if is_each else []


FOREST_WITHOUT_SHARDED_DATA = Rule(
    "SM496", "random cut forest without sharded data", evidence="devguide", needs_every_layer=True
)

_FOREST, _SHARDED = "randomcutforest", "ShardedByS3Key"


def forest_without_sharded_data(request: Request) -> Iterator[Finding]:
    """Reject a channel `train` of Random Cut Forest in S3 that each host gets all of, which is the default.

    Random Cut Forest divides its training data over its hosts.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or algorithm.name != _FOREST:
        return
    for channel in request.channels:
        if channel.name == "train" and channel.s3 and channel.s3.get("S3DataDistributionType") != _SHARDED:
            word = request.word("S3DataDistributionType", "channels.train.distribution")
            yield FOREST_WITHOUT_SHARDED_DATA.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"`{word}` is not `{_SHARDED}`, which `{_FOREST}` requires",
                help=f"set it to `{_SHARDED}`",
            )


GPU_HOSTS_FOR_A_CPU_ALGORITHM = Rule("SM396", "GPU hosts for a CPU algorithm", "warning", evidence="devguide")


def gpu_hosts_for_a_cpu_algorithm(request: Request) -> Iterator[Finding]:
    """Warn about instance types with GPUs for an algorithm that the guide lists with CPUs only.

    Some built-in algorithms do not use GPUs.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or "gpu" in algorithm.devices:
        return
    for path, kind in _first_of_all(request, with_gpus=True):
        yield GPU_HOSTS_FOR_A_CPU_ALGORITHM.at(
            path,
            f"{HERE} is `{kind}`, but `{algorithm.name}` does not use GPUs",
            help="use a type without GPUs, such as `ml.c5.xlarge`",
        )


ENVIRONMENT_OF_A_BUILT_IN_ALGORITHM = Rule(
    "SM822", "environment of a built-in algorithm", "warning", evidence="third-party"
)


def environment_of_a_built_in_algorithm(request: Request) -> Iterator[Finding]:
    """Warn about environment variables for a built-in algorithm, for which SageMaker has rejected them.

    Built-in algorithms read hyperparameters, not variables.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is not None and script_of_aws(request) is None and structure(request.payload, "Environment"):
        yield ENVIRONMENT_OF_A_BUILT_IN_ALGORITHM.at(
            ("Environment",),
            f"{HERE} might not be allowed, because `{algorithm.name}` is a built-in algorithm",
            help="remove it; a built-in algorithm reads only hyperparameters",
            on="key",
        )


MANIFEST_WITHOUT_IMAGES = Rule(
    "SM821", "augmented manifest that an image algorithm does not read", evidence="devguide", needs_every_layer=True
)

_OF_IMAGES = ("image-classification", "object-detection", "semantic-segmentation")


def manifest_without_images(request: Request) -> Iterator[Finding]:
    """Reject an augmented manifest for an image algorithm without RecordIO, and one whose first attribute is text.

    The image algorithms read an image and its label as two records.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or algorithm.name not in _OF_IMAGES:
        return
    for channel in request.channels:
        names = [str(name) for name in items(channel.s3, "AttributeNames")]
        if channel.s3_data_type != "AugmentedManifestFile" or channel.name not in algorithm.channels:
            continue
        if not channel.is_wrapped:
            yield MANIFEST_WITHOUT_IMAGES.at(
                (*channel.path, "RecordWrapperType"),
                f"`{channel.wrapper_word(request)}` is not `RecordIO`, which `{algorithm.name}` requires",
                help="set it to `RecordIO`, or use data that is not an augmented manifest",
                on="key",
                cause=(*channel.s3_path, "S3DataType"),
            )
        if names and not names[0].endswith("-ref"):
            yield MANIFEST_WITHOUT_IMAGES.at(
                (*channel.s3_path, "AttributeNames", 0),
                f"{HERE} is `{shown(names[0])}`; `{algorithm.name}` reads images first",
                help="use an attribute whose name ends with `-ref`, such as `source-ref`; others are text",
            )


MISSING_CHANNEL = Rule("SM492", "missing channel of a built-in algorithm", evidence="devguide", needs_every_layer=True)


def missing_channel(request: Request) -> Iterator[Finding]:
    """Reject a request without a required channel, at a channel that is probably meant as that.

    A built-in algorithm fails without the channels that it requires, and their names are fixed.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    missing = missing_channels(request, algorithm)
    meant = meant_channels(request, algorithm)
    for channel, name in meant:
        if name in missing:
            yield MISSING_CHANNEL.at(
                (*channel.path, "ChannelName"),
                f"`{algorithm.name}` requires a channel `{name}`; it does not read `{shown(channel.name)}`",
                label=f"did you mean `{name}`?",
                on="key",
            )
    for name in missing:
        if name not in {name for _, name in meant}:
            yield MISSING_CHANNEL.at(
                ("InputDataConfig",),
                f"`{request.word('InputDataConfig', 'channels')}` has no `{name}`, which `{algorithm.name}` requires",
                help=f"add a channel `{name}`",
                on="key",
            )


SEVERAL_HOSTS = Rule("SM494", "several hosts for a single-host algorithm", evidence="devguide")


def several_hosts(request: Request) -> Iterator[Finding]:
    """Reject more than one host for an algorithm that the guide limits to one.

    Some built-in algorithms train on one host only.
    """
    count = request.host_count
    if count is None or count < 2:
        return
    algorithm = built_in_algorithm(request)
    if algorithm is not None and algorithm.hosts == "one":
        groups = items(request.payload, "ResourceConfig", "InstanceGroups")
        word = (
            request.word("InstanceGroups", "hosts.groups") if groups else request.word("InstanceCount", "hosts.count")
        )
        yield SEVERAL_HOSTS.at(
            ("ResourceConfig", "InstanceGroups" if groups else "InstanceCount"),
            f"`{word}` is {count:,} hosts in all; the maximum for `{algorithm.name}` is 1"
            if groups
            else f"`{word}` is {count:,}; the maximum for `{algorithm.name}` is 1",
            help="set the count to 1, and use a larger instance type if one is too slow",
        )


UNKNOWN_CHANNEL = Rule(
    "SM395", "unknown channel of a built-in algorithm", "warning", evidence="devguide", needs_every_layer=True
)


def unknown_channel(request: Request) -> Iterator[Finding]:
    """Warn about a channel whose name is near that of an optional one; SM492 is about the required ones.

    A built-in algorithm ignores a channel whose name it does not know.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    missing = missing_channels(request, algorithm)
    for channel, name in meant_channels(request, algorithm):
        if name not in missing:
            yield UNKNOWN_CHANNEL.at(
                (*channel.path, "ChannelName"),
                f"channel `{shown(channel.name)}` might have no effect: `{algorithm.name}` reads `{name}`",
                label=f"did you mean `{name}`?",
                on="key",
            )


UNSUPPORTED_CONTENT_TYPE = Rule(
    "SM398", "unsupported content type of a built-in algorithm", "warning", evidence="devguide"
)

_DATA_CHANNELS = ("train", "validation", "test")
"""Other channels contain models, vocabularies, and lists."""


def unsupported_content_type(request: Request) -> Iterator[Finding]:
    """Warn about a content type that the guide does not list; parameters, as in `text/csv;label_size=0`, are free.

    Built-in algorithms read data of certain content types.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or not algorithm.content_types:
        return
    for channel in request.channels:
        written = channel.members.get("ContentType")
        if channel.name not in _DATA_CHANNELS or not isinstance(written, str) or not written.strip():
            continue
        if written.partition(";")[0].strip().lower() not in algorithm.content_types:
            yield UNSUPPORTED_CONTENT_TYPE.at(
                (*channel.path, "ContentType"),
                f"{HERE}: `{algorithm.name}` might not read `{shown(written)}`",
                help=f"use {' or '.join(f'`{kind}`' for kind in algorithm.content_types[:3])}",
                notes=(Note(f"the developer guide does not list it, {as_of()}"),),
            )


UNSUPPORTED_INPUT_MODE = Rule("SM493", "unsupported input mode of a built-in algorithm", evidence="devguide")


def unsupported_input_mode(request: Request) -> Iterator[Finding]:
    """Reject Pipe mode for an algorithm that the guide lists with File mode only.

    Some built-in algorithms read files only.
    """
    algorithm = built_in_algorithm(request)
    if algorithm is None or "Pipe" in algorithm.input_modes:
        return
    for path in dict.fromkeys(channel.mode_path for channel in request.channels if channel.mode == "Pipe"):
        yield UNSUPPORTED_INPUT_MODE.at(
            path, f"{HERE} is `Pipe`, but `{algorithm.name}` supports only File mode", help="set it to `File`"
        )


RULES = {
    content_type_not_set: (),
    cpu_hosts_for_a_gpu_algorithm: (),
    forest_without_sharded_data: (),
    environment_of_a_built_in_algorithm: (),
    gpu_hosts_for_a_cpu_algorithm: (),
    manifest_without_images: (),
    missing_channel: (),
    several_hosts: (),
    unknown_channel: (),
    unsupported_content_type: (),
    unsupported_input_mode: (),
}
