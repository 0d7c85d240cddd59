"""What a job writes below one of its channels is data of the next run."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import member
from smspec.service.request import Request
from smspec.service.s3_address import as_s3, key_prefix

RULE = Rule("SM806", "output below an input channel", "warning", evidence="inferred")

_WRITTEN = (
    ("OutputDataConfig", "S3OutputPath"),
    ("CheckpointConfig", "S3Uri"),
    ("TensorBoardOutputConfig", "S3OutputPath"),
    ("DebugHookConfig", "S3OutputPath"),
    ("ProfilerConfig", "S3OutputPath"),
)


def check(request: Request) -> Iterator[Finding]:
    """Warn about output, checkpoints, and the like whose address begins with that of a channel."""
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
                yield RULE.at(
                    path,
                    f"{HERE} is below the data of the channel `{shown(channel.name)}`: `{shown(address)}`",
                    help="use a prefix outside the channel; the next run would read these files as data",
                )
                break
