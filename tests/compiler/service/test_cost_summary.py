"""What jobs can cost, in one line."""

from fractions import Fraction

import pytest

from smspec.service.cost_ceiling import ceiling_of
from smspec.service.job_costs import PriceBook, RegionPrices, cost_line, job_cost
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
    costs = (job_cost(job, PriceBook(own=prices), None) for job in jobs)
    assert cost_line(cost for cost in costs if cost is not None) == line


LISTED = {
    "us-west-2": RegionPrices(
        as_of="2026-11-23", currency="USD", training={"ml.m5.large": "0.115", "ml.c5.xlarge": "0.2"}
    ),
    "eu-west-1": RegionPrices(as_of="2026-10-01", currency="USD", training={"ml.m5.large": "0.128"}),
    "cn-north-1": RegionPrices(
        as_of="2026-11-23", currency="CNY", training={"ml.m5.large": "0.9", "ml.c5.xlarge": "2"}
    ),
}


@pytest.mark.parametrize(
    ("own", "jobs", "line"),
    [
        ({}, [("us-west-2", "ml.m5.large")], "10 instance hours, $1.15 (prices of 2026-11-23)"),
        (PRICES, [("us-west-2", "ml.m5.large")], "10 instance hours, $1.00"),
        ({}, [(None, "ml.m5.large")], "10 instance hours without `ml.m5.large`, which has no price"),
        ({}, [("cn-north-1", "ml.m5.large")], "10 instance hours, CNY 9.00 (prices of 2026-11-23)"),
        (PRICES, [("cn-north-1", "ml.m5.large")], "10 instance hours, $1.00"),
    ],
)
def test_own_prices_precede_those_of_the_region(own, jobs, line):
    book = PriceBook(own=own, regions=LISTED)
    costs = [job_cost(request((kind, 1)), book, region) for region, kind in jobs]
    assert cost_line(costs) == f"cost ceiling: {line}"


def test_sum_of_regions_has_the_oldest_date_and_each_currency():
    book = PriceBook(regions=LISTED)
    costs = [job_cost(request(("ml.m5.large", 1)), book, region) for region in LISTED]
    expected = "30 instance hours, $2.43 + CNY 9.00 (prices of 2026-10-01)"
    assert cost_line(costs) == f"cost ceiling of 3 jobs: {expected}"


def test_region_of_an_ecr_image_counts():
    image = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/a:1"
    payload = {**request(("ml.m5.large", 1)), "AlgorithmSpecification": {"TrainingImage": image}}
    cost = job_cost(payload, PriceBook(regions=LISTED), None)
    assert cost_line([cost]) == "cost ceiling: 10 instance hours, $1.28 (prices of 2026-10-01)"


def test_other_currencies_are_no_dollars_in_a_comparison():
    ceiling = ceiling_of(request(("ml.m5.large", 1)), PriceBook(regions=LISTED), "cn-north-1")
    assert (ceiling.usd, ceiling.total) == (None, 10)


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
