"""One run of the job in a rehearsal: undisturbed, or with one disturbance."""

from __future__ import annotations

import os

from smspec.local.run_directory import HOSTS, LOGS
from smspec.local.summary import Summary
from smspec.rehearsal.timeline import Timeline
from smspec.source.frozen import dataclass

_SPARE = (("opt", "ml", "input", "data"), ("opt", "ml", "code"), ("opt", "smspec"), ("usr", "local"))
"""What a host's directory contains in addition to what the job wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """``directory`` has the logs, and below ``hosts`` what each host wrote. ``checkpoints``: below its root, if any."""

    name: str
    directory: str
    summary: Summary
    timeline: Timeline
    hosts: tuple[str, ...]
    checkpoints: str | None

    @property
    def completed(self) -> bool:
        return self.summary.status == "Completed"

    @property
    def model_files(self) -> int:
        """How many files the hosts had in their model directories when the run ended."""
        return 0 if self.summary.model is None else self.summary.model.files

    @property
    def was_interrupted(self) -> bool:
        """Whether the interruption came; a run may end before."""
        return self.timeline.interrupted_at is not None

    @property
    def seconds(self) -> float:
        """How long the hosts ran."""
        return self.timeline.ended_at - self.timeline.started_at

    @property
    def seconds_to_end(self) -> float:
        """How long the hosts went on after the interruption."""
        return self.timeline.ended_at - (self.timeline.interrupted_at or 0.0)

    def root(self, host: str) -> str:
        return os.path.join(self.directory, HOSTS, host)

    def is_real(self, directory: str) -> bool:
        """Return whether a directory of a host is there, and the script has put no link on the way to it."""
        place = os.path.realpath(self.directory) + directory.removeprefix(self.directory)
        return os.path.isdir(directory) and os.path.realpath(directory) == os.path.normpath(place)

    def model_directory(self, host: str) -> str:
        return os.path.join(self.root(host), "opt", "ml", "model")

    def checkpoint_directory(self, host: str) -> str | None:
        return None if self.checkpoints is None else os.path.join(self.root(host), self.checkpoints)

    def log(self, host: str) -> str:
        return os.path.join(self.directory, LOGS, f"{host}.log")

    @property
    def last_log(self) -> str:
        """The log of the host that failed, else of the first one."""
        return self.log(self.summary.failed or self.hosts[0])

    @property
    def spare(self) -> list[str]:
        """The directories that are not needed once the run has ended."""
        return [os.path.join(self.root(host), *names) for host in self.hosts for names in _SPARE]
