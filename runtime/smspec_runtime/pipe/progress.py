"""The epochs in the checkpoints: a restarted job resumes there."""

import json
import os
from contextlib import suppress
from typing import Dict, List

from ..log import log
from ..snapshot import snapshot
from ..training_job import Job

PREFIX = "smspec-progress-"


class Progress:
    """A file in the checkpoints, from which another host or job may start."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._path = os.path.join(job.checkpoint_dir, f"{PREFIX}{job.host}.json")
        self._checkpoints = self._look()

    def completed(self) -> int:
        try:
            with open(self._path, encoding="utf-8") as file:
                state = json.load(file)
            return int(state["completed"]) if state["job"] == self._job.name and self._checkpoints else 0
        except FileNotFoundError:
            pass
        except (OSError, ValueError, LookupError, TypeError) as error:
            log(f"beginning with epoch 0: cannot read {self._path}: {error}")
        return 0

    def note(self, completed: int) -> None:
        """Record it if the handler has saved something since."""
        before, self._checkpoints = self._checkpoints, self._look()
        if self._checkpoints == before:
            return
        draft = self._path + "~"
        try:
            with open(draft, "w", encoding="utf-8") as file:
                json.dump({"job": self._job.name, "completed": completed}, file)
            os.replace(draft, self._path)
        except OSError as error:
            log(f"a restart will begin with an earlier epoch: cannot write {self._path}: {error}")

    def clear(self) -> None:
        with suppress(OSError):
            os.unlink(self._path)

    def _look(self) -> Dict[str, List[int]]:
        found = snapshot(self._job.checkpoint_dir)
        return {path: mark for path, mark in found.items() if not os.path.basename(path).startswith(PREFIX)}
