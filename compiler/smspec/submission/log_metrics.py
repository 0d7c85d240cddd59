"""The metrics of a job in the lines of its log, as SageMaker finds them: the first group of a regex."""

from __future__ import annotations

from smspec.service.metric_pattern import searchable_metrics
from smspec.submission.log_event import LogEvent
from smspec.submission.training_job import TrainingJob

_LONGEST_LINE = 4096
"""Characters of a line that are searched: a regex of an author may take long on a longer one."""


class LogMetrics:
    """The last value of each metric of a job, by name; it keeps the order of the spec."""

    def __init__(self, job: TrainingJob) -> None:
        self._patterns = dict(
            searchable_metrics(job.answer.get("AlgorithmSpecification", {}).get("MetricDefinitions", ()))
        )
        self.values: dict[str, str] = {}

    def take(self, event: LogEvent) -> None:
        """Search a line."""
        for name, pattern in self._patterns.items():
            found = pattern.search(event.text[:_LONGEST_LINE])
            if found and found[1]:
                self.values[name] = found[1]

    def __str__(self) -> str:
        return ", ".join(f"{name} {self.values[name]}" for name in self._patterns if name in self.values)
