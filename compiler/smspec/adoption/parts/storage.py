"""`output`, `checkpoints` and `tensorboard`: what a job leaves behind, and where."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder
from smspec.spec.model import OutputCompression


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the places in S3; in the short form where nothing else is said of one."""
    output = rest.text("OutputDataConfig", "S3OutputPath")
    if output is not None:
        kms_key = rest.text("OutputDataConfig", "KmsKeyId")
        compression = rest.word(OutputCompression, "OutputDataConfig", "CompressionType")
        yield "output", _place(output, kms_key=kms_key, compression=compression)
    checkpoints = rest.text("CheckpointConfig", "S3Uri")
    if checkpoints is not None:
        yield "checkpoints", _place(checkpoints, local=rest.text("CheckpointConfig", "LocalPath"))
    tensorboard = rest.text("TensorBoardOutputConfig", "S3OutputPath")
    if tensorboard is not None:
        yield "tensorboard", tensorboard


def _place(s3: str, **more: str | None) -> object:
    said = {key: value for key, value in more.items() if value is not None}
    return {"s3": s3, **said} if said else s3
