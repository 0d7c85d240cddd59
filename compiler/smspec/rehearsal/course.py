"""A job that is interrupted and starts again: its runs, and what passes from one to the next."""

from __future__ import annotations

import os

from smspec.local.interruption import Interruption
from smspec.rehearsal.trial import Trial
from smspec.source.deep_directories import copy_files, files_below
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """``trials``: one for each start of the job. There are fewer interruptions than requested if it ended before.

    ``passed_on``: how many files of checkpoints each interrupted run left.
    """

    name: str
    interruptions: tuple[Interruption, ...]
    trials: tuple[Trial, ...]
    passed_on: tuple[int, ...]

    @property
    def last(self) -> Trial:
        return self.trials[-1]

    @property
    def count(self) -> int:
        """How many interruptions came."""
        return sum(trial.was_interrupted for trial in self.trials)

    @property
    def seconds(self) -> float:
        """How long the hosts ran in all."""
        return sum(trial.seconds for trial in self.trials)

    def __str__(self) -> str:
        if not self.count:
            return f"{self.interruptions[0]}, which did not come"
        return ", then ".join(str(interruption) for interruption in self.interruptions[: self.count])


def checkpoints_left(trial: Trial, target: str) -> int:
    """Copy what the checkpoint directories of an interrupted run have, as it arrives in the next one; count the files.

    All hosts write to one prefix of S3, so of files with the same name the later one remains, and every host gets all
    of them. S3 has no empty directories. What SageMaker does with links is not documented, so they stay.
    """
    originals: dict[str, str] = {}
    for host in trial.hosts:
        root = trial.checkpoint_directory(host)
        if root is None or not trial.is_real(root):
            continue
        for name, path in files_below(root).items():
            if name not in originals or os.lstat(path).st_mtime_ns >= os.lstat(originals[name]).st_mtime_ns:
                originals[name] = path
    copy_files(originals, target)
    return len(originals)
