"""Metrics in the log of a job that is followed: a hostile regex must not stop the following."""

import time
from types import SimpleNamespace

from smspec.submission.following import LogMetrics
from smspec.submission.training_job import LogEvent


def test_regex_that_takes_forever_is_dropped_and_others_go_on():
    metrics = [{"Name": "slow", "Regex": "(a+)+(x)"}, {"Name": "loss", "Regex": "loss=([0-9.]+)"}]
    found = LogMetrics(SimpleNamespace(answer={"AlgorithmSpecification": {"MetricDefinitions": metrics}}), 0.2)
    started = time.process_time()
    for number in range(50):
        found.take(LogEvent(time=number, host="algo-1", text=f"{'a' * 4000} loss={number}"))
    assert time.process_time() - started < 2
    assert str(found) == "loss 49"
