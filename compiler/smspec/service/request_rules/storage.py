"""Where a job writes: OutputDataConfig, CheckpointConfig, and TensorBoardOutputConfig."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.arns import Arn, parsed_arn
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.s3_address import (
    AS_A_FOLDER,
    EXPRESS_SUFFIX,
    LONGEST_KEY,
    as_s3,
    bucket_of,
    can_be_a_bucket,
    is_access_point,
    key_of,
    key_prefix,
    longer_data,
    names_access_point,
)
from smspec.service.shapes import member, structure
from smspec.source import Path

INVALID_BUCKET_NAME = Rule("SM454", "invalid bucket name", evidence="inferred")


def invalid_bucket_name(request: Request) -> Iterator[Finding]:
    """Reject every S3 address whose bucket name is not valid.

    S3 rejects some bucket names that the pattern of the API accepts.
    """
    for path, address in request.s3_addresses:
        if is_access_point(address):
            if not names_access_point(address):
                yield _not_an_access_point(path, parsed_arn(address.removeprefix("s3://")))
            continue
        bucket = bucket_of(address)
        if bucket is not None and not can_be_a_bucket(bucket):
            yield INVALID_BUCKET_NAME.at(
                path, f"{HERE}: `{shown(bucket)}` is not a valid S3 bucket name", help=_bucket_help(bucket)
            )


def _not_an_access_point(path: Path, arn: Arn | None) -> Finding:
    if arn is not None and arn.service == "s3" and not arn.region and not arn.account:
        return INVALID_BUCKET_NAME.at(path, f"{HERE} is the ARN of a bucket", help=f"use `s3://{shown(arn.resource)}`")
    kind = f"an ARN of `{shown(arn.service)}`" if arn is not None and arn.service != "s3" else "an incomplete ARN"
    return INVALID_BUCKET_NAME.at(path, f"{HERE} is {kind}, not of an S3 access point", help="use the name of a bucket")


def _bucket_help(bucket: str) -> str:
    if "<" in bucket or "{" in bucket or "$" in bucket:
        return "replace it with the name of your bucket"
    return "use 3 to 63 lowercase letters, digits, `.`, and `-`; start and end with a letter or digit"


DOUBLE_SLASH_IN_A_CHANNEL = Rule("SM803", "double slash in the address of a File channel", evidence="service-message")


def double_slash_in_a_channel(request: Request) -> Iterator[Finding]:
    """Reject `//` in the key prefix of a channel in File mode.

    SageMaker stores each object of a File channel under its key, in which an empty directory name fails.
    """
    for channel in request.channels:
        address = channel.prefix
        if address is not None and channel.is_stored_as_files and "//" in f"/{key_of(address)}":
            yield DOUBLE_SLASH_IN_A_CHANNEL.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} contains `//`: `{shown(address)}`",
                help="remove one `/`; SageMaker fails to download keys that contain `//`",
            )


KEY_ABOVE_THE_LIMIT_OF_S3 = Rule("SM808", "S3 key above the limit", evidence="api-doc")


def key_above_the_limit_of_s3(request: Request) -> Iterator[Finding]:
    """Reject an S3 address whose key is longer than any key can be.

    S3 has a limit for keys in bytes, and the API only one in characters.
    """
    for path, address in request.s3_addresses:
        size = len(key_of(as_s3(address)).encode("utf-8", "surrogatepass"))
        if size > LONGEST_KEY:
            yield KEY_ABOVE_THE_LIMIT_OF_S3.at(
                path,
                f"{HERE} has a key of {size:,} bytes; the maximum is {LONGEST_KEY:,}",
                help="shorten it: letters outside ASCII take 2 to 4 bytes",
            )


VALUE_THAT_IS_NOT_A_KMS_KEY = Rule("SM809", "value that is not a KMS key", evidence="inferred")

_KEYS = (("OutputDataConfig", "KmsKeyId"), ("ResourceConfig", "VolumeKmsKeyId"))
_KEY = r"(?i)arn:.*|alias/.+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32}"


def value_that_is_not_a_kms_key(request: Request) -> Iterator[Finding]:
    """Reject the ARN of another service in place of a KMS key, and a name without `alias/`.

    A KMS key is an id, an alias, or an ARN of KMS.
    """
    for path in _KEYS:
        key = member(request.payload, *path)
        # An empty key is not a key: DescribeTrainingJob returns one.
        if isinstance(key, str) and key and not re.fullmatch(_KEY, key):
            is_name = re.fullmatch(r"[a-zA-Z0-9_-]+", key) and path[0] == "OutputDataConfig"
            yield VALUE_THAT_IS_NOT_A_KMS_KEY.at(
                path,
                f"{HERE} is neither the id nor the ARN of a KMS key: `{shown(key)}`",
                help=f"use `alias/{shown(key)}`, or the id or the ARN of the key"
                if is_name
                else "use the id or the ARN of the key",
            )
    for named in request.arns:
        is_key = named.arn.service == "kms" and named.arn.resource.startswith(("key/", "alias/"))
        if str(named.path[-1]).endswith("KmsKeyId") and not is_key:
            yield VALUE_THAT_IS_NOT_A_KMS_KEY.at(
                named.path,
                f"{HERE} is not a KMS key, but `{shown(f'{named.arn.service}:{named.arn.resource}')}`",
                help="use the ARN, the id, or the alias of a KMS key",
            )


LITERAL_TEXT_IN_AN_S3_ADDRESS = Rule(
    "SM804", "S3 address with text that S3 reads literally", "warning", evidence="devguide"
)

_READ_LITERALLY = ", which S3 reads literally"

_LITERAL = (
    (r"\?versionId=", "?versionId=", _READ_LITERALLY, "remove it; SageMaker reads the newest version"),
    (r"(?:^|/)\.\.(?:/|$)", "..", ", but S3 has no parent directories", "remove it, and write the prefix in full"),
    (r"(?:^|/)\.(?:/|$)", ".", _READ_LITERALLY, "remove it"),
    (r"(?:^|/)/", "//", ", which S3 reads as an empty name", "remove one `/`"),
    (r"\*", "*", ", but S3 has no wildcards", "use the prefix before it, or a manifest"),
    (r"\?", "?", ", but S3 has no wildcards or queries", "use the prefix before it, or a manifest"),
    (r"%[0-9A-Fa-f]{2}", "", ", which S3 does not decode", "use the character itself"),
    (r"\\", "\\", _READ_LITERALLY, "use `/`"),
    (r"[\x00-\x1f\x7f]", "", _READ_LITERALLY, "remove it"),
    (r"(?:^|(?<=/))[ \u00a0]+|[ \u00a0]+(?=/|$)", " ", _READ_LITERALLY, "remove the space"),
)
"""Pattern, the text to show (empty: what matches), what S3 does, and the remedy."""

_ANY_LITERAL = re.compile("|".join(f"(?:{pattern})" for pattern, *_ in _LITERAL))


def literal_text_in_an_s3_address(request: Request) -> Iterator[Finding]:
    """Warn about the first such text of every S3 address.

    S3 keys are text: nothing in an address is a wildcard, an escape, a query, or a step to a parent directory.
    """
    reported = {(*each.s3_path, "S3Uri") for each in request.channels if each.is_stored_as_files}
    for path, address in request.s3_addresses:
        if address.startswith("s3://") and _ANY_LITERAL.search(key_of(address)):
            yield from _first_literal_text(path, key_of(address), is_reported=path in reported)


def _first_literal_text(path: Path, key: str, *, is_reported: bool) -> Iterator[Finding]:
    for pattern, text, effect, remedy in _LITERAL:
        found = re.search(pattern, key)
        # SM803 reports these of a File channel.
        if found is not None and not (text == "//" and is_reported):
            what = "an outer space" if text == " " else f"`{shown(text or found[0])}`"
            yield LITERAL_TEXT_IN_AN_S3_ADDRESS.at(path, f"{HERE} contains {what}{effect}", help=remedy)
            return


OUTPUT_IN_A_CHANNEL = Rule("SM806", "output below an input channel", "warning", evidence="inferred")

_WRITTEN = (
    ("OutputDataConfig", "S3OutputPath"),
    ("CheckpointConfig", "S3Uri"),
    ("TensorBoardOutputConfig", "S3OutputPath"),
    ("DebugHookConfig", "S3OutputPath"),
    ("ProfilerConfig", "S3OutputPath"),
)


def output_in_a_channel(request: Request) -> Iterator[Finding]:
    """Warn about output, checkpoints, and the like whose address begins with that of a channel.

    What a job writes below one of its channels is data of the next run.
    """
    for path in _WRITTEN:
        written = member(request.payload, *path)
        if not isinstance(written, str):
            continue
        written = as_s3(written)
        for channel in request.channels:
            address = channel.prefix
            if address is None:
                continue
            address = as_s3(address)
            # A job that continues from its checkpoints may read them as a channel too.
            is_meant = path[0] == "CheckpointConfig" and written.rstrip("/") == address.rstrip("/")
            if f"{written.rstrip('/')}/".startswith(key_prefix(address)) and not is_meant:
                yield OUTPUT_IN_A_CHANNEL.at(
                    path,
                    f"{HERE} is below the data of the channel `{shown(channel.name)}`: `{shown(address)}`",
                    help="use a prefix outside the channel; the next run would read these files as data",
                )
                break


CHANNEL_WITH_OTHER_DATA = Rule("SM805", "channel that also reads other data", "warning", evidence="api-doc")


def channel_with_other_data(request: Request) -> Iterator[Finding]:
    """Warn about `s3://b/train` in a request that has `s3://b/train-old/` too.

    The address of a channel is a prefix of keys: without a `/` at its end, it also matches longer names.
    """
    addresses = [text for _, text in request.s3_addresses]
    in_order = sorted(addresses)
    for channel in request.channels:
        address = channel.prefix
        if address is None:
            continue
        other = min(longer_data(address, in_order), key=addresses.index, default=None)
        if other is not None:
            yield CHANNEL_WITH_OTHER_DATA.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} also matches `{shown(other)}`",
                help=AS_A_FOLDER,
            )


WHOLE_BUCKET_AS_CHECKPOINTS = Rule("SM807", "whole bucket as checkpoints", "warning", evidence="devguide")


def whole_bucket_as_checkpoints(request: Request) -> Iterator[Finding]:
    """Warn about a checkpoint address without a key prefix.

    SageMaker copies everything below the checkpoint prefix into the container at startup.
    """
    address = structure(request.payload, "CheckpointConfig").get("S3Uri")
    if not isinstance(address, str) or key_of(as_s3(address)).strip("/"):
        return
    bucket = address.removeprefix("s3://").rstrip("/") if is_access_point(address) else bucket_of(address)
    kind = "access point" if is_access_point(address) else "bucket"
    if bucket:
        yield WHOLE_BUCKET_AS_CHECKPOINTS.at(
            ("CheckpointConfig", "S3Uri"),
            f"{HERE} is the whole {kind} `{shown(bucket)}`",
            help=f"use a prefix, as in `s3://{shown(bucket)}/checkpoints/`; SageMaker downloads all of it at startup",
        )


CHECKPOINTS_AT_THE_OUTPUT_PREFIX = Rule("SM355", "checkpoints at the output prefix", "warning", evidence="inferred")


def checkpoints_at_the_output_prefix(request: Request) -> Iterator[Finding]:
    """Warn about checkpoints and output with one S3 address, and about output below the checkpoints.

    Checkpoints and models under one prefix can overwrite each other.
    """
    checkpoints = structure(request.payload, "CheckpointConfig").get("S3Uri")
    output = structure(request.payload, "OutputDataConfig").get("S3OutputPath")
    if not isinstance(checkpoints, str) or not isinstance(output, str):
        return
    above, below = as_s3(checkpoints), as_s3(output).rstrip("/")
    is_same = above.rstrip("/") == below
    # A whole bucket is reported as such.
    if is_same or (key_of(above).strip("/") and f"{below}/".startswith(above)):
        place = "is the output prefix" if is_same else "contains the output prefix"
        yield CHECKPOINTS_AT_THE_OUTPUT_PREFIX.at(
            ("CheckpointConfig", "S3Uri"),
            f"`{request.word('CheckpointConfig.S3Uri', 'checkpoints')}` {place}: `{shown(output)}`",
            help="use a separate prefix; later jobs would download the models as checkpoints",
        )


CHECKPOINTS_IN_A_MANAGED_DIRECTORY = Rule(
    "SM469", "checkpoints in a directory that SageMaker manages", evidence="inferred"
)

_MANAGED_DIRECTORIES = ("/opt/ml/input", "/opt/ml/model", "/opt/ml/output", "/opt/ml/code")


def checkpoints_in_a_managed_directory(request: Request) -> Iterator[Finding]:
    """Reject a checkpoint directory that SageMaker uses for something else.

    SageMaker manages some directories below /opt/ml.
    """
    local = structure(request.payload, "CheckpointConfig").get("LocalPath")
    if not isinstance(local, str) or not local.startswith("/"):
        return
    place = posixpath.normpath(local).replace("//", "/")
    for directory in _MANAGED_DIRECTORIES:
        is_above = f"{directory}/".startswith(f"{place.rstrip('/')}/") and place != directory
        if is_above or f"{place}/".startswith(f"{directory}/"):
            yield CHECKPOINTS_IN_A_MANAGED_DIRECTORY.at(
                ("CheckpointConfig", "LocalPath"),
                f"{HERE} {'contains' if is_above else 'is in'} `{directory}`, which SageMaker manages",
                help="use a different directory, or remove the key; the default is /opt/ml/checkpoints",
            )
            return


KMS_KEY_WITH_S3_EXPRESS = Rule("SM455", "KMS key with S3 Express", evidence="api-doc")


def kms_key_with_s3_express(request: Request) -> Iterator[Finding]:
    """Reject KmsKeyId where the output goes to S3 Express One Zone.

    Directory buckets do not support a KMS key of the job.
    """
    output = structure(request.payload, "OutputDataConfig")
    address = output.get("S3OutputPath")
    bucket = bucket_of(address) if isinstance(address, str) else None
    # An empty key is not a key: DescribeTrainingJob returns one.
    if bucket and bucket.endswith(EXPRESS_SUFFIX) and output.get("KmsKeyId"):
        yield KMS_KEY_WITH_S3_EXPRESS.at(
            ("OutputDataConfig", "KmsKeyId"),
            f"{HERE} is not supported by the S3 Express bucket `{shown(bucket)}`",
            help="remove the key, or use a general purpose bucket",
            on="key",
        )


RELATIVE_CHECKPOINT_DIRECTORY = Rule("SM468", "relative checkpoint directory", evidence="inferred")


def relative_checkpoint_directory(request: Request) -> Iterator[Finding]:
    """Reject a checkpoint directory that does not start with a slash. An empty one is the default.

    A container has no defined working directory for a relative path.
    """
    local = structure(request.payload, "CheckpointConfig").get("LocalPath")
    if isinstance(local, str) and local and not local.startswith("/"):
        yield RELATIVE_CHECKPOINT_DIRECTORY.at(
            ("CheckpointConfig", "LocalPath"),
            f"{HERE} is not an absolute path: `{shown(local)}`",
            help="use an absolute path, or remove the key; the default is /opt/ml/checkpoints",
        )


S3_URI_WITH_HTTPS = Rule("SM346", "S3 URI with https", "warning", evidence="api-doc")


def s3_uri_with_https(request: Request) -> Iterator[Finding]:
    """Warn about every S3 address that is written with https.

    The API accepts https addresses, but other tools do not find the object under them.
    """
    for path, address in request.s3_addresses:
        if address.startswith("https://"):
            yield S3_URI_WITH_HTTPS.at(
                path,
                f"`{request.word(str(path[-1]), 's3')}` starts with `https://` instead of `s3://`",
                help="use s3://<bucket>/<key>",
            )


RULES = {
    invalid_bucket_name: (),
    double_slash_in_a_channel: ("InputDataConfig.DataSource.S3DataSource",),
    key_above_the_limit_of_s3: (),
    value_that_is_not_a_kms_key: (),
    literal_text_in_an_s3_address: (),
    output_in_a_channel: ("InputDataConfig.DataSource.S3DataSource",),
    channel_with_other_data: ("InputDataConfig.DataSource.S3DataSource",),
    whole_bucket_as_checkpoints: ("CheckpointConfig",),
    checkpoints_at_the_output_prefix: ("CheckpointConfig",),
    checkpoints_in_a_managed_directory: ("CheckpointConfig",),
    kms_key_with_s3_express: ("OutputDataConfig.KmsKeyId",),
    relative_checkpoint_directory: ("CheckpointConfig",),
    s3_uri_with_https: (),
}
