"""A job that is interrupted and starts again: its runs, and what passes from one to the next."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress

from smspec.local.interruption import Interruption
from smspec.rehearsal.trial import Trial
from smspec.source.deep_directories import ignore_unread, walked
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
    os.makedirs(target)
    times: dict[str, int] = {}
    for host in trial.hosts:
        root = trial.checkpoint_directory(host)
        if root is None or os.path.realpath(root) != os.path.abspath(root):
            continue
        for directory, _, names in walked(root, ignore_unread):
            for name in names:
                source = os.path.join(directory, name)
                path = os.path.relpath(source, root)
                status = os.lstat(source)
                if _is_kept(status.st_mode) and status.st_mtime_ns >= times.get(path, 0):
                    times[path] = status.st_mtime_ns
                    copy = os.path.join(target, path)
                    os.makedirs(os.path.dirname(copy), exist_ok=True)
                    if os.path.lexists(copy):
                        os.unlink(copy)
                    with suppress(PermissionError):  # the script has removed its rights
                        shutil.copy2(source, copy, follow_symlinks=False)
    return len(times)


def _is_kept(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
