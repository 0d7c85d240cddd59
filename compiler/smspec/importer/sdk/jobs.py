"""A training job that a program would start."""

from __future__ import annotations

from smspec.importer.sdk.values import Instance, Place
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An estimator or trainer, and the call that starts the job; None if the program only creates the estimator.

    ``part_of``: what starts the job, if it is no call of `fit`.
    """

    estimator: Instance
    call: Instance | None
    part_of: str

    @property
    def place(self) -> Place:
        return self.estimator.place

    @property
    def name(self) -> str:
        """What the program calls the estimator."""
        return self.estimator.name or "estimator"

    @property
    def class_name(self) -> str:
        return self.estimator.kind.rpartition(".")[2]
