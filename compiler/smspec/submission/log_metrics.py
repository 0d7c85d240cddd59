"""The metrics of a job in the lines of its log, as SageMaker finds them: the first group of a regex."""

from __future__ import annotations

import time

from smspec.service.metric_pattern import OutOfTime, searchable_metrics, time_limit
from smspec.submission.log_event import LogEvent
from smspec.submission.training_job import TrainingJob

_LONGEST_LINE = 4096
"""Characters of a line that are searched: a regex of an author may take long on a longer one."""
_SECONDS = 1.0
"""Processor time for each metric: one that takes longer is not shown any more."""


class LogMetrics:
    """The last value of each metric of a job, by name; it keeps the order of the spec."""

    def __init__(self, job: TrainingJob, seconds: float = _SECONDS) -> None:
        self._patterns = dict(
            searchable_metrics(job.answer.get("AlgorithmSpecification", {}).get("MetricDefinitions", ()))
        )
        self._left = dict.fromkeys(self._patterns, seconds)
        self.values: dict[str, str] = {}

    def take(self, event: LogEvent) -> None:
        """Search a line."""
        for name, pattern in self._patterns.items():
            if self._left[name] <= 0:
                continue
            start = time.process_time()
            try:
                with time_limit(self._left[name]):
                    found = pattern.search(event.text[:_LONGEST_LINE])
            except OutOfTime:
                self._left[name] = 0
                continue
            self._left[name] -= _overrun(time.process_time() - start)
            if found and found[1]:
                self.values[name] = found[1]

    def __str__(self) -> str:
        return ", ".join(f"{name} {self.values[name]}" for name in self._patterns if name in self.values)


def _overrun(seconds: float) -> float:
    """Return the time that counts: a job may log for weeks, and an ordinary search takes microseconds."""
    return seconds if seconds > 0.01 else 0.0
