"""What jobs can cost, in one line."""

from fractions import Fraction

import pytest

from smspec.service.cost_summary import cost_line, job_cost
from support.small_job import READY, write_job
from support.smspec_command import smspec

PRICES = {"ml.m5.large": Fraction("0.1"), "ml.g5.xlarge": Fraction("1.5")}


def request(*hosts, hours=10):
    groups = [{"InstanceType": kind, "InstanceCount": count} for kind, count in hosts]
    return {"ResourceConfig": {"InstanceGroups": groups}, "StoppingCondition": {"MaxRuntimeInSeconds": hours * 3600}}


@pytest.mark.parametrize(
    ("jobs", "prices", "line"),
    [
        ([], PRICES, ""),
        ([request(("ml.m5.large", 2))], {}, "cost ceiling: 20 instance hours"),
        ([request(("ml.m5.large", 1), hours=1)], {}, "cost ceiling: 1 instance hour"),
        ([request(("ml.m5.large", 2))], PRICES, "cost ceiling: 20 instance hours, $2.00"),
        ([request(("ml.m5.large", 2), ("ml.g5.xlarge", 3))], PRICES, "cost ceiling: 50 instance hours, $47.00"),
        (
            [request(("ml.m5.large", 2)), request(("ml.trn2.48xlarge", 1))],
            PRICES,
            "cost ceiling of 2 jobs: 30 instance hours, $2.00 without `ml.trn2.48xlarge`, which has no price",
        ),
        ([{}, request(("ml.m5.large", "x"))], PRICES, ""),
    ],
)
def test_line_has_hours_and_known_prices(jobs, prices, line):
    costs = (job_cost(job, prices) for job in jobs)
    assert cost_line(cost for cost in costs if cost is not None) == line


@pytest.mark.parametrize("command", ["validate", "build"])
def test_commands_print_the_ceiling_once(command, tmp_path):
    """That of the spec on its own, not of its overlays."""
    write_job(tmp_path, READY + "overlays: {large: {hosts: {count: 8}}}\n")
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.m5.large" = 0.115\n')
    done = smspec(command, cwd=tmp_path)
    lines = [line for line in done.err.splitlines() if "cost ceiling" in line]
    assert lines == ["cost ceiling: 24 instance hours, $2.76"]
    assert "cost" not in done.out


def test_jobs_with_errors_have_no_ceiling(tmp_path):
    write_job(tmp_path, READY.replace("count: 1", "count: 0"))
    assert "cost ceiling" not in smspec("validate", cwd=tmp_path).err
