"""All promises, in the order of the report. A new one is a file with a `PROMISE`, and a line here."""

from __future__ import annotations

from smspec.rehearsal.promise import Promise
from smspec.rehearsal.promises import (
    absent_host,
    failing_s3,
    full_volume,
    half_written_checkpoint,
    killed_process,
    lost_host,
    progress,
    read_only_model,
    slow_s3,
    spot,
    stalled_pipe,
    stop,
    truncated_pipe,
)

PROMISES: tuple[Promise, ...] = (
    spot.PROMISE,
    progress.PROMISE,
    lost_host.PROMISE,
    half_written_checkpoint.PROMISE,
    stop.PROMISE,
    killed_process.PROMISE,
    absent_host.PROMISE,
    full_volume.PROMISE,
    read_only_model.PROMISE,
    stalled_pipe.PROMISE,
    truncated_pipe.PROMISE,
    slow_s3.PROMISE,
    failing_s3.PROMISE,
)
