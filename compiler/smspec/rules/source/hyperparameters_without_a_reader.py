"""A command gets no arguments by default, so a script that is started by one does not get hyperparameters either."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.source.source_and_job import SourceAndJob
from smspec.spec.model import CommandEntry
from smspec.spec.starter import starter

RULE = Rule("SM532", "hyperparameters without a reader", "warning")

_READS = re.compile(
    r"SM_HPS|SM_HP_|SM_USER_ARGS|SM_TRAINING_ENV|hyper_?param|smspec_runtime|sagemaker_training|sagemaker_containers"
    r"|/opt/ml/input\b|input/config|INPUT_CONFIG|\bbin/train\b",
    re.IGNORECASE,
)


def check(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about the hyperparameters of a command that gets no arguments and reads none in another way."""
    job, entry = both.job, both.job.entry_point
    if not isinstance(entry, CommandEntry) or entry.args_style != "none" or starter(job) != "runtime":
        return
    names = [one.name for one in job.hyperparameters if not one.name.startswith(("sagemaker_", "_"))]
    if not names or not _starts_own_file(both, entry.command):
        return
    if any(_READS.search(text) for text in (*(text.text for text in both.texts), *entry.command)):
        return
    yield RULE.at(
        ("hyperparameters",),
        "`hyperparameters` has no effect: the command gets no arguments, and the source reads none",
        help="set `args_style: toolkit` in `entry_point`, or write the values in `command`",
        on="key",
        notes=(Note("`args_style` is `none`, the default of a command"),),
    )


def _starts_own_file(both: SourceAndJob, command: tuple[str, ...]) -> bool:
    """Return whether the command names a file of the source, so that what it starts is known."""
    names = {text.name.replace("\\", "/") for text in both.texts}
    words = {word.removeprefix("./") for part in command for word in part.split()}
    return any(name == word or name.endswith(f"/{word}") for word in words for name in names)
