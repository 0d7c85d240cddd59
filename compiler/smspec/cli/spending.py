"""What jobs cost together: by tag, by spec, and by the cause of failures, against their ceilings; and the page of it.

Sums are of what is known: a job without a price, or that bills nothing yet, is counted, and adds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.cli.past_jobs import COMPLETED, ENDED, FAILED, LOCAL, PastJob, change_text, moment_text
from smspec.diagnostics import count
from smspec.diagnostics.quoting import masked, visible
from smspec.local.record.units import duration
from smspec.review.change import safe
from smspec.service.failures import RETRIES
from smspec.service.job_costs import two_decimals

if TYPE_CHECKING:
    from smspec.cli.history import HistoryEntry

_FIRST_TAGS = ("team", "owner", "project", "cost-center", "costcenter", "cost_center", "environment", "env", "stage")
_MOST_KEYS, _MOST_VALUES = 50, 200
_KEYS_OF_PAGE, _VALUES_OF_PAGE = 8, 30
OTHERS = "(others)"
NO_CAUSE = "unknown"
OTHER = "other"
"""The status of a job that goes on, or one that smspec does not know."""


class Sum:
    """The sum of some jobs. ``wasted``: what those that did not complete have cost."""

    def __init__(self) -> None:
        self.jobs = 0
        self.statuses: Counter[str] = Counter()
        self.hours = self.most_hours = self.usd = self.most_usd = self.wasted_usd = self.wasted_hours = 0.0
        self.priced = self.billed = 0

    def add(self, job: PastJob) -> None:
        """Count a job."""
        cost = job.cost
        self.jobs += 1
        self.statuses[job.status if job.is_over else OTHER] += 1
        self.priced += cost.usd is not None
        self.billed += cost.hours is not None
        self.hours += cost.hours or 0
        self.most_hours += cost.most_hours or 0
        self.usd += cost.usd or 0
        self.most_usd += cost.most_usd or 0
        if job.is_over and job.status != COMPLETED:
            self.wasted_usd += cost.usd or 0
            self.wasted_hours += cost.hours or 0

    @property
    def is_in_dollars(self) -> bool:
        """Whether everything that is billed has a price."""
        return 0 < self.priced == self.billed

    @property
    def amount(self) -> float:
        return self.usd if self.is_in_dollars else self.hours

    @property
    def share(self) -> float:
        """What was billed, in percent of the ceilings."""
        most = self.most_usd if self.is_in_dollars else self.most_hours
        return min(100.0, 100 * self.amount / most) if most else 0.0

    def money(self) -> str:
        """Return what was billed, and the ceilings."""
        if self.is_in_dollars:
            return f"${self.usd:,.2f} of at most ${self.most_usd:,.2f}"
        return f"{two_decimals(self.hours)} of at most {two_decimals(self.most_hours)} instance hours"

    def states(self) -> str:
        """Return how many jobs ended how."""
        return ", ".join(f"{self.statuses[state]:,} {state}" for state in (*ENDED, OTHER) if self.statuses[state])

    def record(self) -> dict[str, object]:
        """Return the sum as JSON; dollars are null unless everything that is billed has a price."""
        return {
            "jobs": self.jobs,
            "statuses": dict(sorted(self.statuses.items())),
            "instance_hours": round(self.hours, 4),
            "ceiling_instance_hours": round(self.most_hours, 4),
            "usd": round(self.usd, 4) if self.is_in_dollars else None,
            "ceiling_usd": round(self.most_usd, 4) if self.is_in_dollars else None,
            "not_completed_instance_hours": round(self.wasted_hours, 4),
        }


class Spending:
    """The sums of jobs: ``total`` of those in SageMaker, and of all ``runs`` on this machine; bounded in size."""

    def __init__(self, jobs: Iterable[PastJob]) -> None:
        self.total, self.runs = Sum(), Sum()
        self.tags: dict[str, dict[str, Sum]] = {}
        self.specs: dict[str, Sum] = {}
        self.causes: dict[str, Sum] = {}
        self.known: dict[str, tuple[str, str]] = {}
        self.examples: dict[str, str] = {}
        for job in jobs:
            if job.place == LOCAL:
                self.runs.add(job)
            else:
                self._add(job)

    def _add(self, job: PastJob) -> None:
        self.total.add(job)
        _sum_of(self.specs, job.spec).add(job)
        for key, value in job.tags.items():
            if key in self.tags or len(self.tags) < _MOST_KEYS:
                _sum_of(self.tags.setdefault(key, {}), str(safe(key, value))).add(job)
        if job.diagnosis is not None:
            name = job.cause or NO_CAUSE
            _sum_of(self.causes, name).add(job)
            self.examples.setdefault(name, job.name)
            if job.diagnosis.cause:
                self.known[name] = job.diagnosis.cause.cause, RETRIES[job.diagnosis.cause.retry]

    @property
    def keys(self) -> list[str]:
        """The keys of tags: those of teams first, then the most frequent ones."""
        frequency = {key: sum(each.jobs for each in values.values()) for key, values in self.tags.items()}

        def rank(key: str) -> tuple[int, int, str]:
            name = key.lower()
            return _FIRST_TAGS.index(name) if name in _FIRST_TAGS else len(_FIRST_TAGS), -frequency[key], key

        return sorted(self.tags, key=rank)

    def line(self) -> str:
        """Return all of it in a sentence."""
        parts = []
        if self.total.jobs:
            parts.append(f"{count(self.total.jobs, 'job')} in SageMaker ({self.total.states()}), {self.total.money()}")
        if self.runs.jobs:
            parts.append(f"{count(self.runs.jobs, 'local run')} ({self.runs.states()})")
        return "; ".join(parts)

    def record(self) -> dict[str, object]:
        """Return the sums as JSON."""
        return {
            "total": self.total.record(),
            "local_runs": self.runs.record(),
            "spending": {
                key: [{"value": value, **each.record()} for value, each in _by_amount(self.tags[key])]
                for key in self.keys
            },
            "specs": [{"spec": name, **each.record()} for name, each in _by_amount(self.specs)],
            "failures": [
                {
                    "cause": name,
                    "likely_cause": self.known.get(name, (None,))[0],
                    "example": self.examples.get(name),
                    **each.record(),
                }
                for name, each in _by_number(self.causes)
            ],
        }


def _sum_of(sums: dict[str, Sum], name: str) -> Sum:
    return sums.setdefault(name if name in sums or len(sums) < _MOST_VALUES else OTHERS, Sum())


def _by_amount(sums: Mapping[str, Sum]) -> list[tuple[str, Sum]]:
    return sorted(sums.items(), key=lambda item: (-item[1].hours, -item[1].jobs, item[0]))


def _by_number(sums: Mapping[str, Sum]) -> list[tuple[str, Sum]]:
    return sorted(sums.items(), key=lambda item: (-item[1].jobs, item[0]))


def history_page(
    entries: Sequence[HistoryEntry], spending: Spending, *, is_all: bool, notes: Sequence[str], most: int
) -> str:
    """Return the page about a fleet. ``most``: how many jobs it lists one by one."""
    from smspec.render.pages import page_template  # imported late: jinja2 is slow to import

    tables = [(f"Spending by tag {visible(key)}", key, _by_amount(spending.tags[key])) for key in spending.keys]
    days = [each.job.created for each in entries if each.job.created]
    return page_template("history.html.j2", has_lines=False).render(
        total=spending.total,
        runs=spending.runs,
        first=moment_text(min(days))[:10] if days else "",
        last=moment_text(max(days))[:10] if days else "",
        tables=[(title, key, rows[:_VALUES_OF_PAGE], len(rows)) for title, key, rows in tables[:_KEYS_OF_PAGE]],
        more_keys=spending.keys[_KEYS_OF_PAGE:],
        specs=_by_amount(spending.specs)[:_VALUES_OF_PAGE],
        spec_count=len(spending.specs),
        causes=[
            (name, *spending.known.get(name, ("unknown to smspec", "")), spending.examples[name], each)
            if name in spending.examples
            else (name, "", "", "", each)
            for name, each in _by_number(spending.causes)
        ],
        entries=entries[:most],
        left=len(entries) - most,
        is_all=is_all,
        notes=notes,
        duration=duration,
        moment=moment_text,
        change_text=change_text,
        masked=masked,
        local=LOCAL,
        failed=FAILED,
        completed=COMPLETED,
    )
