"""Table, schema, model, and API model have the same keys; each difference is described."""

import pytest

from smspec.service.shapes import pinned_model
from smspec.spec import model
from smspec.spec.keys import ROW, ROWS
from smspec.spec.keys.row import DURATION, TEXT, TEXTS, KeyRow, StructureForm
from smspec.spec.schema import spec_keys
from support.spec.key_table import faults

KEY = ("stopping", "max_idle")


def faults_with(*more, without=(), schema=None):
    """Return what is wrong with the table once rows are in it that were not, and others are not."""
    rows = (*(row for row in ROWS if row.path not in without), *more)
    return list(faults(rows, {**spec_keys(), **(schema or {})}, pinned_model()))


def test_table_has_no_faults():
    assert faults_with() == []


@pytest.mark.parametrize(
    ("changed", "sentences"),
    [
        (
            {"schema": {KEY: {}}},
            ["`stopping.max_idle` is in job.v1.schema.json and has no row: add one in spec/keys/"],
        ),
        (
            {"more": [KeyRow("stopping.max_idle", DURATION, "StoppingCondition.MaxPendingTimeInSeconds", kind="cost")]},
            [
                "`stopping.max_idle` has a row and is not in job.v1.schema.json: add its entry",
                "`stopping.max_idle` has a row, and Stopping no such field, spec/model.py",
            ],
        ),
        (
            {"without": ["stopping.max_runtime"]},
            [
                "`stopping.max_runtime` is in job.v1.schema.json and has no row: add one in spec/keys/",
                "Stopping has the field `max_runtime`, and `stopping.max_runtime` no row",
            ],
        ),
        (
            {
                "without": ["retries"],
                "more": [KeyRow("retries", TEXT, "RetryStrategy.MaximumRetryAttempts", kind="cost")],
            },
            ["`retries` writes string, and `RetryStrategy.MaximumRetryAttempts` is of the type integer"],
        ),
        (
            {"without": ["retries"], "more": [KeyRow("retries", TEXT, "RetryStrategy.Attempts", kind="cost")]},
            ["`retries`: the API model has no member `RetryStrategy.Attempts`"],
        ),
        (
            {"without": ["retries"], "more": [KeyRow("retries", TEXT)]},
            ["`retries` has neither a member of the request nor a kind of change: nothing says where it goes"],
        ),
        (
            {"without": ["role"], "more": [KeyRow("role", TEXT, "RoleArn")]},
            ["`role` has no kind of change: `diff` would not know what to call one"],
        ),
        (
            {
                "without": ["metrics", "metrics.*.name", "metrics.*.regex"],
                "more": [
                    KeyRow("metrics", TEXTS, "AlgorithmSpecification.MetricDefinitions", kind="other"),
                    ROW["metrics.*.name"],
                    ROW["metrics.*.regex"],
                ],
            },
            [
                "`metrics` writes a list of texts, and `AlgorithmSpecification.MetricDefinitions` is one of structures",
            ],
        ),
        ({"more": [ROW["role"]]}, ["`role` has two rows"]),
        (
            {"without": ["role"], "more": [KeyRow("role", TEXT, "RoleArn", kind="security", words={"Slurm": " "})]},
            [
                "`role` has words of `Slurm`, which is not in TOOLS, spec/keys/row.py",
                "`role` has no words of `Slurm`: remove the entry",
            ],
        ),
        (
            {
                "without": ["spot"],
                "more": [KeyRow("spot", StructureForm(model.Spot), "RetryStrategy.Attempt", kind="cost")],
            },
            ["`spot`: the API model has no member `RetryStrategy.Attempt`"],
        ),
    ],
)
def test_table_faults_are_described(changed, sentences):
    assert (
        faults_with(*changed.get("more", ()), **{name: it for name, it in changed.items() if name != "more"})
        == sentences
    )
