"""The result of a rehearsal: a row for each promise, as text, JSON, or JUnit."""

from __future__ import annotations

import json

from smspec.diagnostics.visible import visible
from smspec.local.units import duration
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
        }
        return f"{json.dumps(document, indent=2)}\n"

    def text(self) -> str:
        """Return the table, and below it what was seen of each broken promise and what to do."""
        from smspec.rehearsal.table import table  # imported late: it loads rich

        blocks = [table(self.rows)]
        if self.failure:
            blocks.append(
                f"the job fails undisturbed, so nothing else was rehearsed\n  {visible(self.failure)}\n"
                f"  log: {self.failure_log}\n"
            )
        blocks += [_explained(row) for row in self.broken]
        blocks.append(f"{self._counts()}; {self.runs} runs in {duration(self.seconds)}, seed {self.seed}\n")
        return "\n".join(blocks)

    def junit(self) -> str:
        """Return the report for a CI system."""
        from smspec.rehearsal.junit import junit  # imported late: it loads an XML library

        return junit(self)

    def _counts(self) -> str:
        states = [row.outcome.state for row in self.rows]
        counts = [(state, states.count(state)) for state in ("kept", "broken", "not rehearsed")]
        return ", ".join(f"{count} {state}" for state, count in counts if count)


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


def _explained(row: Row) -> str:
    outcome = row.outcome
    lines = [f"{row.name}: {row.statement}: broken"]
    lines += [f"  {visible(text)}" for text in outcome.seen]
    named = {"interrupted": outcome.moment, "log": outcome.log, "files": outcome.directory, "help": outcome.advice}
    lines += [f"  {name}: {visible(text)}" for name, text in named.items() if text]
    return "\n".join(lines) + "\n"
