"""A report for people: the table of promises, and below it what to do about those that were broken."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics.visible import visible
from smspec.local.tables import lines_of
from smspec.local.units import duration
from smspec.rehearsal.report import Report, Row

_LONGEST = 70


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


def _table(rows: Sequence[Row]) -> str:
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


def _explained(row: Row) -> str:
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


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
