"""SageMaker starts a Pipe channel when its FIFO is opened; one that is never opened can stop the job from ending."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.source.source_and_job import SourceAndJob
from smspec.spec.model import CommandEntry, ScriptEntry
from smspec.spec.starter import starter

RULE = Rule("SM536", "Pipe channel that the script never reads", "warning")

_READS_ANY = re.compile(
    r"SM_CHANNELS?\b|SM_CHANNEL_[\"'{%]|SM_CHANNEL_\$|SM_TRAINING_ENV|SM_INPUT_DATA_CONFIG|SM_INPUT_DIR"
    r"|inputdataconfig|input_data_config|channel_input_dirs|smspec_runtime|sagemaker_|PipeModeDataset|mlio|ml_io"
    r"|/opt/ml/input/data[/\"'\s]*[\"'\s{%+$]|/opt/ml/input[\"'/\s]*[\"'{%+$]|/opt/ml[\"'/\s]*[\"'{%+$]|_[01]\b"
)
"""Ways to read a channel without writing its name."""


def check(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about a Pipe channel of a script whose source does not contain the name of the channel."""
    job, entry = both.job, both.job.entry_point
    if not isinstance(entry, ScriptEntry | CommandEntry) or starter(job) == "image":
        return
    piped = [channel for channel in job.channels if job.mode_of(channel) == "Pipe"]
    if not piped:
        return
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command
    values = [str(one.value) for one in job.hyperparameters] + [one.name for one in job.hyperparameters]
    written = [*(text.text for text in both.texts), *words, *values, *job.environment.values()]
    if any(_READS_ANY.search(text) for text in written):
        return
    for channel in piped:
        if _is_mentioned(channel.name, both, written):
            continue
        yield RULE.at(
            ("channels", channel.name),
            f"`channels.{channel.name}` is a Pipe channel, but the source never mentions `{channel.name}`",
            help="read its FIFO in the script, set `input_mode: File`, or remove the channel",
            on="key",
        )


def _is_mentioned(name: str, both: SourceAndJob, written: list[str]) -> bool:
    """Return whether a text names the channel: a script in a string or as a part of a path, other files anywhere."""
    word = re.escape(name)
    in_code = re.compile(rf"[\"'/-]{word}(?:[\"'/]|_?[\d{{%*\"'])|SM_CHANNEL_{re.escape(name.upper())}\b")
    anywhere = re.compile(rf"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])", re.IGNORECASE)
    modules = {text.text for text in both.modules}
    return any((in_code if text in modules else anywhere).search(text) for text in written)
