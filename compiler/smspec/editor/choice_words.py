"""What each value of a key with a list of choices means, for editors; the key has the longer description."""

from __future__ import annotations

from types import MappingProxyType

_MODES = {
    "File": "downloads before the job starts",
    "FastFile": "streams files on first read",
    "Pipe": "streams through a FIFO per epoch",
}

CHOICE_WORDS = MappingProxyType(
    {
        "source.delivery": {
            "image": "copied into the image",
            "channel": "delivered as the input channel `code`",
            "s3": "delivered as sourcedir.tar.gz in S3",
        },
        "entry_point.args_style": {
            "toolkit": "as the SageMaker Training Toolkit does: sorted, with values as in Python",
            "json": "`--key value` in your order, with JSON values",
            "flags": "as `json`, but true is `--key`, false is omitted, and a list is `--key a b`",
            "none": "no arguments",
        },
        "entry_point.read": {
            "chunks": "raw bytes, for any content",
            "lines": "lines of text",
            "jsonlines": "parsed JSON lines",
            "csv": "parsed CSV rows",
            "recordio": "records of RecordIO",
            "recordio_protobuf": "records of RecordIO with SageMaker's protobuf messages",
            "augmented": "samples of an augmented manifest",
            "tfrecord": "records of TFRecord",
            "tar": "files of a tar archive",
        },
        "input_mode": _MODES,
        "channels.*.input_mode": _MODES,
        "channels.*.file_system.type": {"EFS": "Amazon EFS", "FSxLustre": "Amazon FSx for Lustre"},
        "channels.*.file_system.access": {"ro": "read only", "rw": "read and write"},
        "channels.*.s3_data_type": {
            "S3Prefix": "all objects under a prefix",
            "ManifestFile": "the objects listed in a manifest",
            "AugmentedManifestFile": "JSON lines with objects and labels; requires Pipe mode and `attributes`",
        },
        "channels.*.distribution": {
            "FullyReplicated": "each host gets all objects",
            "ShardedByS3Key": "each host gets a share of the objects",
        },
        "channels.*.compression": {
            "None": "no decompression",
            "Gzip": "decompressed by SageMaker, only in Pipe mode",
        },
        "channels.*.record_wrapper": {
            "None": "objects as they are",
            "RecordIO": "each S3 object in one RecordIO record, not in File mode",
        },
        "distribution.parameter_server.framework": {
            "mxnet": "the DMLC_* variables of MXNet",
            "tensorflow": "TF_CONFIG of TensorFlow",
        },
        "hyperparameter_encoding": {
            "json": "JSON, but strings have no quotes unless they would decode to something else",
            "json_strings": "JSON with all strings in quotes, like the SageMaker SDK",
            "raw": "as written in the spec",
        },
        "output.compression": {
            "GZIP": "uploads model.tar.gz",
            "NONE": "uploads the files uncompressed, which is better for large models",
        },
    }
)
"""By key, as `smspec explain` names it; for a mapping of names to choices, by the key of the mapping."""
