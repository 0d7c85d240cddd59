"""InputDataConfig: what the channels read from S3."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import did_you_mean, spelling_fix
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.s3_address import key_of
from smspec.service.shapes import items, member, structure

ATTRIBUTES_WITHOUT_AUGMENTED_MANIFEST = Rule(
    "SM432", "attributes without an augmented manifest", evidence="api-doc", needs_every_layer=True
)


def attributes_without_augmented_manifest(request: Request) -> Iterator[Finding]:
    """Reject AttributeNames on any other S3DataType.

    Only an augmented manifest has attributes.
    """
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = structure(channel, "DataSource", "S3DataSource")
        if source.get("AttributeNames") and source.get("S3DataType") != "AugmentedManifestFile":
            yield ATTRIBUTES_WITHOUT_AUGMENTED_MANIFEST.at(
                ("InputDataConfig", index, "DataSource", "S3DataSource", "AttributeNames"),
                f"{HERE} requires an augmented manifest",
                help="remove the attributes, or set"
                f" `{request.word('S3DataType', 's3_data_type')}: AugmentedManifestFile`",
                on="key",
            )


AUGMENTED_MANIFEST_WITHOUT_ATTRIBUTES = Rule(
    "SM431", "augmented manifest without attributes", evidence="devguide", needs_every_layer=True
)


def augmented_manifest_without_attributes(request: Request) -> Iterator[Finding]:
    """Reject AugmentedManifestFile without AttributeNames.

    Without attribute names SageMaker streams nothing from an augmented manifest.
    """
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = structure(channel, "DataSource", "S3DataSource")
        if source.get("S3DataType") == "AugmentedManifestFile" and not source.get("AttributeNames"):
            yield AUGMENTED_MANIFEST_WITHOUT_ATTRIBUTES.at(
                ("InputDataConfig", index, "DataSource", "S3DataSource", "S3DataType"),
                f"{HERE} is AugmentedManifestFile, but `{request.word('AttributeNames', 'attributes')}` is not set",
                help="list them in the order in which the script reads them:"
                f" `{request.word('AttributeNames', 'attributes')}: [source-ref, …]`",
            )


AUGMENTED_MANIFEST_WITHOUT_PIPE_MODE = Rule(
    "SM446", "augmented manifest without Pipe mode", evidence="api-doc", needs_every_layer=True
)


def augmented_manifest_without_pipe_mode(request: Request) -> Iterator[Finding]:
    """Reject AugmentedManifestFile in File and FastFile mode.

    Only Pipe mode supports the attributes of an augmented manifest.
    """
    for channel in request.channels:
        if channel.s3_data_type == "AugmentedManifestFile" and channel.mode in ("File", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield AUGMENTED_MANIFEST_WITHOUT_PIPE_MODE.at(
                (*channel.s3_path, "S3DataType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses {channel.mode} mode",
                help=f"set `{mode}: Pipe` for the channel",
            )


AUGMENTED_MANIFEST_WITHOUT_RECORD_IO = Rule(
    "SM820", "augmented manifest without RecordIO", "warning", evidence="devguide", needs_every_layer=True
)


def augmented_manifest_without_record_io(request: Request) -> Iterator[Finding]:
    """Warn about an augmented manifest whose values are streamed without anything between them.

    Objects alone, as in `[source-ref]`, may contain their ends. An algorithm of AWS knows what it reads: SM821.
    """
    # Imported late: it reads the tables of images.
    from smspec.service.built_in_algorithm import built_in_algorithm

    if request.image is None or built_in_algorithm(request) is not None:
        return
    for channel in request.channels:
        names = items(channel.s3, "AttributeNames")
        is_one_object = len(names) == 1 and str(names[0]).endswith("-ref")
        is_streamed = channel.s3_data_type == "AugmentedManifestFile" and channel.mode == "Pipe"
        if is_streamed and names and not is_one_object and not channel.is_wrapped:
            yield AUGMENTED_MANIFEST_WITHOUT_RECORD_IO.at(
                (*channel.path, "RecordWrapperType"),
                f"`{channel.wrapper_word(request)}` is not `RecordIO`, so nothing separates the attributes",
                help="set it to `RecordIO`; each attribute is then one record of the stream",
                on="key",
                cause=(*channel.s3_path, "AttributeNames"),
            )


CHANNEL_WITHOUT_AN_INSTANCE_GROUP = Rule(
    "SM451", "channel without an instance group", evidence="service-message", needs_every_layer=True
)


def channel_without_an_instance_group(request: Request) -> Iterator[Finding]:
    """Reject a channel in S3 without InstanceGroupNames in a job where a different one has them.

    Either all channels go to every host, or each names its groups.
    """
    # A different rule reports a group that the job does not have.
    if not items(request.payload, "ResourceConfig", "InstanceGroups"):
        return
    in_s3 = [channel for channel in request.channels if channel.s3]
    assigned = [channel for channel in in_s3 if items(channel.s3, "InstanceGroupNames")]
    key = request.word("InstanceGroupNames", "instance_groups")
    for channel in in_s3:
        if assigned and not channel.s3.get("InstanceGroupNames"):
            yield CHANNEL_WITHOUT_AN_INSTANCE_GROUP.at(
                (*channel.s3_path, "InstanceGroupNames"),
                f"`{key}` of {channel.label} is not set, but {assigned[0].label} sets it",
                help="add it to every channel, or remove it from all",
            )


CONVERSATIONS_WITHOUT_A_SERVERLESS_JOB = Rule(
    "SM344", "conversations without a serverless job", "warning", evidence="inferred"
)


def conversations_without_a_serverless_job(request: Request) -> Iterator[Finding]:
    """Warn about S3DataType Converse in a job that is not serverless.

    Only jobs that fine-tune foundation models read conversations.
    """
    for channel in request.channels:
        if channel.s3_data_type == "Converse" and not request.is_serverless:
            yield CONVERSATIONS_WITHOUT_A_SERVERLESS_JOB.at(
                (*channel.s3_path, "S3DataType"),
                "`S3DataType` is `Converse`, but the job is not serverless",
                help=f"use `S3Prefix`, or set `{request.word('ServerlessJobConfig', 'api.ServerlessJobConfig')}`",
            )


HUB_CONTENT_OTHER_THAN_A_MODEL = Rule(
    "SM343", "hub content other than a model reference", "warning", evidence="api-doc"
)


def hub_content_other_than_a_model(request: Request) -> Iterator[Finding]:
    """Warn about a HubContentArn of a different content type.

    A channel can use a hub only for a reference to a model.
    """
    for channel in request.channels:
        arn = structure(channel.s3, "HubAccessConfig").get("HubContentArn")
        if isinstance(arn, str) and "/ModelReference/" not in arn:
            yield HUB_CONTENT_OTHER_THAN_A_MODEL.at(
                (*channel.s3_path, "HubAccessConfig", "HubContentArn"),
                "`HubContentArn` is not the ARN of a ModelReference",
                help="use arn:aws:sagemaker:<region>:<account>:hub-content/<hub>/ModelReference/<model>/<version>",
            )


MANIFEST_IN_FAST_FILE_MODE = Rule("SM447", "manifest in FastFile mode", evidence="devguide")


def manifest_in_fast_file_mode(request: Request) -> Iterator[Finding]:
    """Reject ManifestFile in FastFile mode.

    FastFile mode shows a prefix as a directory, and a manifest is not a prefix.
    """
    for channel in request.channels:
        if channel.s3_data_type == "ManifestFile" and channel.mode == "FastFile":
            mode = request.word("InputMode", "input_mode")
            yield MANIFEST_IN_FAST_FILE_MODE.at(
                (*channel.s3_path, "S3DataType"),
                f"{HERE} is ManifestFile, but {channel.label} uses FastFile mode",
                help=f"set `{mode}: File`, or move the objects to their own prefix",
            )


MANIFEST_WITHOUT_AN_OBJECT_KEY = Rule("SM450", "manifest without an object key", evidence="api-doc")

_MANIFESTS = ("ManifestFile", "AugmentedManifestFile")


def manifest_without_an_object_key(request: Request) -> Iterator[Finding]:
    """Reject the address of a folder, or of a whole bucket, for a manifest.

    A manifest is one object, not a prefix.
    """
    for channel in request.channels:
        address = channel.s3.get("S3Uri")
        if (
            channel.s3_data_type in _MANIFESTS
            and isinstance(address, str)
            and (address.endswith("/") or not key_of(address))
        ):
            yield MANIFEST_WITHOUT_AN_OBJECT_KEY.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} is a prefix, but {channel.label} reads a manifest",
                help="use the URI of the manifest, such as `s3://…/train.manifest`,"
                f" or set `{request.word('S3DataType', 's3_data_type')}: S3Prefix`",
            )


MODEL_WITHOUT_ACCEPTED_EULA = Rule(
    "SM452", "model without an accepted EULA", evidence="api-doc", needs_every_layer=True
)


def model_without_accepted_eula(request: Request) -> Iterator[Finding]:
    """Reject ModelAccessConfig that declines the license.

    The model is available only to those who accept its license.
    """
    for channel in request.channels:
        if structure(channel.s3, "ModelAccessConfig").get("AcceptEula") is False:
            yield MODEL_WITHOUT_ACCEPTED_EULA.at(
                (*channel.s3_path, "ModelAccessConfig", "AcceptEula"),
                f"{HERE} is false, but {channel.label} requires it to be true",
                help="read the license, and set it to true if you accept it",
            )


PARTIAL_FOLDER_IN_FAST_FILE_MODE = Rule("SM339", "partial folder in FastFile mode", "warning", evidence="devguide")

# A single object works too.
_OBJECT = r"(?s).+\.[A-Za-z][A-Za-z0-9]{0,9}"


def partial_folder_in_fast_file_mode(request: Request) -> Iterator[Finding]:
    """Warn about a prefix in FastFile mode that does not end with `/` and does not look like one object.

    FastFile mode supports whole folders; a prefix without `/` may be the beginning of several names.
    """
    for channel in request.channels:
        address = channel.s3.get("S3Uri")
        if channel.mode != "FastFile" or channel.s3_data_type != "S3Prefix" or not isinstance(address, str):
            continue
        last = key_of(address).rpartition("/")[2]
        if last and not re.fullmatch(_OBJECT, last):
            yield PARTIAL_FOLDER_IN_FAST_FILE_MODE.at(
                (*channel.s3_path, "S3Uri"),
                f"`{request.word('S3Uri', 's3')}` of {channel.label} should end with `/` in FastFile mode: "
                f"`{shown(last)}`",
                help="add `/` to the URI of a folder",
            )


SHARDING_ON_ONE_HOST = Rule("SM342", "sharding on one host", "warning", evidence="api-doc")

_FOREST = "randomcutforest"


def sharding_on_one_host(request: Request) -> Iterator[Finding]:
    """Warn about ShardedByS3Key where one host gets the channel, except for Random Cut Forest, which requires it.

    Sharding across one host has no effect.
    """
    # Imported late: it reads the tables of images.
    from smspec.service.built_in_algorithm import built_in_algorithm

    algorithm = built_in_algorithm(request)
    if algorithm is not None and algorithm.name == _FOREST:
        return
    for channel in request.channels:
        if channel.s3.get("S3DataDistributionType") == "ShardedByS3Key" and request.hosts_of(channel) == 1:
            yield SHARDING_ON_ONE_HOST.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"`ShardedByS3Key` has no effect: one host gets {channel.label}",
                help="remove it, or use more hosts",
            )


UNKNOWN_INSTANCE_GROUP = Rule("SM433", "unknown instance group", evidence="api-doc", needs_every_layer=True)


def unknown_instance_group(request: Request) -> Iterator[Finding]:
    """Reject a channel for an instance group that ResourceConfig does not have.

    A channel can be assigned only to groups of the job.
    """
    groups = [
        str(member(group, "InstanceGroupName")) for group in items(request.payload, "ResourceConfig", "InstanceGroups")
    ]
    where = request.word("ResourceConfig.InstanceGroups", "hosts.groups")
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        here = ("DataSource", "S3DataSource", "InstanceGroupNames")
        for position, name in enumerate(items(channel, *here)):
            if isinstance(name, str) and name not in groups:
                yield UNKNOWN_INSTANCE_GROUP.at(
                    ("InputDataConfig", index, *here, position),
                    f"{HERE}: the job has no instance group `{shown(name)}`",
                    label=did_you_mean(name, groups),
                    help="" if groups else f"remove the key, or add groups to `{where}`",
                    fix=spelling_fix(name, groups),
                )


RULES = {
    attributes_without_augmented_manifest: ("InputDataConfig.DataSource.S3DataSource.AttributeNames",),
    augmented_manifest_without_attributes: (
        "InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",
    ),
    augmented_manifest_without_pipe_mode: ("InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",),
    augmented_manifest_without_record_io: ("InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",),
    channel_without_an_instance_group: ("InputDataConfig.DataSource.S3DataSource.InstanceGroupNames",),
    conversations_without_a_serverless_job: ("InputDataConfig.DataSource.S3DataSource.S3DataType=Converse",),
    hub_content_other_than_a_model: ("InputDataConfig.DataSource.S3DataSource.HubAccessConfig",),
    manifest_in_fast_file_mode: ("InputDataConfig.DataSource.S3DataSource.S3DataType=ManifestFile",),
    manifest_without_an_object_key: (
        "InputDataConfig.DataSource.S3DataSource.S3DataType=ManifestFile",
        "InputDataConfig.DataSource.S3DataSource.S3DataType=AugmentedManifestFile",
    ),
    model_without_accepted_eula: ("InputDataConfig.DataSource.S3DataSource.ModelAccessConfig",),
    partial_folder_in_fast_file_mode: (),
    sharding_on_one_host: ("InputDataConfig.DataSource.S3DataSource.S3DataDistributionType=ShardedByS3Key",),
    unknown_instance_group: ("InputDataConfig.DataSource.S3DataSource.InstanceGroupNames",),
}
