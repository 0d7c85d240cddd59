"""Specs that `smspec submit` can submit to the servers of the tests."""

from support.servers.aws_server import BUCKET
from support.small_job import READY

SPEC = READY.replace("s3://models", f"s3://{BUCKET}") + (
    "region: us-west-2\n"
    "source: {dir: src/, delivery: s3}\n"
    "entry_point: train.py\n"
    f"channels: {{train: s3://{BUCKET}/data/}}\n"
    "tags: {team: ads}\n"
)
LOCAL = SPEC.replace(
    f"channels: {{train: s3://{BUCKET}/data/}}", f"channels: {{train: {{s3: s3://{BUCKET}/data/, local: data}}}}"
)
"""Its channel has local data too."""
IN_CHANNEL = SPEC.replace("{dir: src/, delivery: s3}", "src/")
"""Its source is delivered in a channel, with the runtime: a hundred objects to upload, where an archive is one."""
