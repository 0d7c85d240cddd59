"""A promise, its outcome, and the result of a rehearsal with a row for each, as JSON, as JUnit XML, and for people.

A promise is what a job is expected to withstand, and how it is rehearsed. What was not rehearsed at all has a refusal:
errors of the spec, or what this machine lacks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.formats import json_record
from smspec.diagnostics.junit_format import case_in, document, error_in, suite_in
from smspec.diagnostics.quoting import visible
from smspec.local.record.units import duration, lines_of
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from smspec.rehearsal.rehearsal import Rehearsal


State = Literal["kept", "broken", "not rehearsed"]

_LONGEST = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseOutcome:
    """``seen``: sentences, the most important one first; of a promise that was not rehearsed, the reason.

    ``advice``: what to do about a broken one. ``trial``, ``moment``, ``log``, and ``directory``: where to look.
    """

    state: State
    seen: tuple[str, ...]
    advice: str = ""
    trial: str = ""
    moment: str = ""
    log: str = ""
    directory: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """``name`` is the value of ``--only``. ``reason_against``: why it makes no sense for a job, or None."""

    name: str
    statement: str
    reason_against: Callable[[Rehearsal], str | None]
    rehearse: Callable[[Rehearsal], PromiseOutcome]


def kept(*seen: str) -> PromiseOutcome:
    """Return the outcome of a promise that held in every trial."""
    return PromiseOutcome(state="kept", seen=seen)


def not_rehearsed(*seen: str) -> PromiseOutcome:
    """Return the outcome of a promise about which nothing can be said, and the reason."""
    return PromiseOutcome(state="not rehearsed", seen=seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseRow:
    """A promise and its outcome."""

    name: str
    statement: str
    outcome: PromiseOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``failure``: why the job fails undisturbed, so that nothing else was rehearsed; empty if it does not."""

    job: str
    seed: int
    directory: str
    rows: tuple[PromiseRow, ...]
    failure: str
    failure_log: str
    runs: int
    seconds: float

    @property
    def broken(self) -> tuple[PromiseRow, ...]:
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


def _record(row: PromiseRow) -> dict[str, object]:
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


def junit(report: Report) -> str:
    """Return one suite: a broken promise is a failure, one that was not rehearsed is skipped."""
    states = [row.outcome.state for row in report.rows]
    counts = {
        "tests": len(states) + bool(report.failure),
        "failures": states.count("broken") + bool(report.failure),
        "errors": 0,
        "skipped": states.count("not rehearsed"),
    }
    suites = ElementTree.Element("testsuites")
    suite = suite_in(suites, f"smspec rehearse {report.job}", report.seconds, counts)
    if report.failure:
        case_in(suite, report.job, "undisturbed", 0.0, "failure", "the job fails undisturbed", report.failure)
    for row in report.rows:
        outcome = row.outcome
        kind = {"broken": "failure", "not rehearsed": "skipped"}.get(outcome.state)
        more = [outcome.advice, outcome.moment, outcome.log, outcome.directory]
        text = "\n".join(filter(None, [*outcome.seen, *more]))
        first = outcome.seen[0] if outcome.seen else ""
        case_in(suite, report.job, f"{row.name}: {row.statement}", outcome.seconds, kind, first, text)
    return document(suites)


def text(report: Report) -> str:
    """Return the table, and below it what was seen of each broken promise and what to do."""
    blocks = [_table(report.rows)]
    if report.failure:
        lines = [*map(visible, report.failure.splitlines()), f"log: {report.failure_log}"]
        blocks.append("the job fails undisturbed, so nothing else was rehearsed\n" + "".join(f"  {x}\n" for x in lines))
    blocks += [_explained(row) for row in report.broken]
    runs = "1 run" if report.runs == 1 else f"{report.runs} runs"
    blocks.append(f"{_counts(report)}; {runs} in {duration(report.seconds)}, seed {report.seed}\n")
    return "\n".join(blocks)


def _table(rows: Sequence[PromiseRow]) -> str:
    """Return one line for each promise, wrapped in its last column."""
    from rich.table import Table  # imported late, as in `lines_of`

    columns = Table(box=None, pad_edge=False, header_style="")
    for name in ("promise", "result", "time"):
        columns.add_column(name, no_wrap=True, justify="right" if name == "time" else "left")
    columns.add_column("what was seen", max_width=_LONGEST, overflow="fold")
    for row in rows:
        outcome = row.outcome
        seconds = duration(outcome.seconds) if outcome.state != "not rehearsed" else "-"
        columns.add_row(row.name, outcome.state, seconds, visible(outcome.seen[0]) if outcome.seen else "")
    return "\n".join(lines_of(columns)) + "\n"


def _explained(row: PromiseRow) -> str:
    outcome = row.outcome
    lines = [f"{row.name}: {row.statement}: broken"]
    lines += [f"  {visible(text)}" for text in outcome.seen]
    named = {"interrupted": outcome.moment, "log": outcome.log, "files": outcome.directory, "help": outcome.advice}
    lines += [f"  {name}: {visible(text)}" for name, text in named.items() if text]
    return "\n".join(lines) + "\n"


def _counts(report: Report) -> str:
    states = [row.outcome.state for row in report.rows]
    counts = [(state, states.count(state)) for state in ("kept", "broken", "not rehearsed")]
    return ", ".join(f"{count} {state}" for state, count in counts if count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """``spec``: its path. ``diagnostics``: those of the spec. ``sentence``: what this machine lacks, or nothing."""

    spec: str
    diagnostics: tuple[Diagnostic, ...] = ()
    sentence: str = ""

    @property
    def _errors(self) -> list[Diagnostic]:
        return [each for each in self.diagnostics if each.severity == "error"]

    def to_json(self) -> str:
        """Return a document like that of a rehearsal, without promises."""
        unplaced = {"code": None, "severity": "error", "message": self.sentence}
        errors = [*map(json_record, self._errors), *([unplaced] if self.sentence else [])]
        return f"{json.dumps({'job': None, 'failure': None, 'promises': [], 'errors': errors}, indent=2)}\n"

    def to_junit(self) -> str:
        """Return one suite with a test case for each error."""
        suites = ElementTree.Element("testsuites")
        count = len(self._errors) + bool(self.sentence)
        counts = {"tests": count, "failures": 0, "errors": count, "skipped": 0}
        suite = suite_in(suites, f"smspec rehearse {self.spec}", 0.0, counts)
        for each in self._errors:
            error_in(suite, self.spec, each, "error")
        if self.sentence:
            case_in(suite, self.spec, "this machine", 0.0, "error", self.sentence, self.sentence)
        return document(suites)
