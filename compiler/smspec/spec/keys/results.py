"""Keys of where results go: `output`, `checkpoints`, and `tensorboard`."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import ANYONE, API, AZURE, SAGIFY, SDK, Row
from smspec.spec.keys.value_forms import TEXT, Structure, word

ROWS: tuple[Row, ...] = (
    Row(
        "output",
        Structure(model.Output, short="s3"),
        "OutputDataConfig",
        kind="output",
        called="output",
        group="results",
        words={API: "S3OutputPath", SDK: "output_path model_dir", AZURE: "outputs", SAGIFY: "output_s3_dir"},
    ),
    Row(
        "output.s3",
        TEXT,
        "OutputDataConfig.S3OutputPath",
        kind="output",
        called="where the model goes",
        words={API: "S3Uri", ANYONE: "uri"},
    ),
    Row(
        "output.kms_key",
        TEXT,
        "OutputDataConfig.KmsKeyId",
        kind="security",
        called="KMS key of the output",
        words={SDK: "output_kms_key"},
    ),
    Row(
        "output.compression",
        word(model.OutputCompression),
        "OutputDataConfig.CompressionType",
        kind="output",
        called="compression of the model",
        words={SDK: "disable_output_compression"},
    ),
    Row(
        "checkpoints",
        Structure(model.Checkpoints, short="s3"),
        "CheckpointConfig",
        kind="restart",
        called="checkpoints",
        group="results",
        words={SDK: "checkpoint_s3_uri"},
    ),
    Row("checkpoints.s3", TEXT, "CheckpointConfig.S3Uri", kind="restart", words={ANYONE: "uri"}),
    Row("checkpoints.local", TEXT, "CheckpointConfig.LocalPath", kind="restart", words={SDK: "checkpoint_local_path"}),
    Row(
        "tensorboard",
        TEXT,
        "TensorBoardOutputConfig.S3OutputPath",
        kind="output",
        called="where TensorBoard data go",
        group="results",
    ),
)
