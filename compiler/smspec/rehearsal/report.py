"""The result of a rehearsal: a row for each promise."""

from __future__ import annotations

import json

from smspec.rehearsal.promise import Outcome
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A promise and its outcome."""

    name: str
    statement: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``failure``: why the job fails undisturbed, so that nothing else was rehearsed; empty if it does not."""

    job: str
    seed: int
    directory: str
    rows: tuple[Row, ...]
    failure: str
    failure_log: str
    runs: int
    seconds: float

    @property
    def broken(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.outcome.state == "broken")

    @property
    def exit_status(self) -> int:
        return 1 if self.failure or self.broken else 0

    def to_json(self) -> str:
        """Return the text of rehearsal.json."""
        document = {
            "job": self.job,
            "seed": self.seed,
            "directory": self.directory,
            "failure": self.failure or None,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "promises": [_record(row) for row in self.rows],
            "errors": [],
        }
        return f"{json.dumps(document, indent=2)}\n"


def _record(row: Row) -> dict[str, object]:
    outcome = row.outcome
    return {
        "name": row.name,
        "statement": row.statement,
        "state": outcome.state,
        "seen": list(outcome.seen),
        "advice": outcome.advice or None,
        "trial": outcome.trial or None,
        "moment": outcome.moment or None,
        "log": outcome.log or None,
        "directory": outcome.directory or None,
        "seconds": round(outcome.seconds, 3),
    }
