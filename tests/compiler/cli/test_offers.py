"""`smspec offers`: the instance types that fit, by devices, memory, region, price, and quota."""

from __future__ import annotations

import json

import pytest

from smspec.service.facts import table as facts_table
from smspec.service.shapes import pinned_model
from support.small_job import READY
from support.smspec_command import smspec


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.g5.48xlarge" = 9.5\n')
    listed = {"as_of": "2026-11-23", "currency": "USD"}
    prices = {
        "us-west-2": {**listed, "training": {"ml.p4d.24xlarge": "37.688", "ml.g6e.48xlarge": "30.1"}},
        "us-east-1": {**listed, "training": {"ml.p4d.24xlarge": "35.5"}},
    }
    quotas = {"ml.g6e.48xlarge for training job usage": 2}
    (tmp_path / "smspec.prices.json").write_text(json.dumps({"version": 1, "regions": prices}))
    accounts = {"111122223333": {"us-west-2": {"as_of": "2026-11-23", "training": quotas}}}
    (tmp_path / "smspec.quotas.json").write_text(json.dumps({"version": 1, "accounts": accounts}))
    return tmp_path


def offered(*words, cwd):
    """Return the rows of the table as lists of words, and the lines to paste."""
    done = smspec("offers", *words, cwd=cwd)
    assert done.status == 0, done.err
    rows, lines = done.out.split("\n\n")
    return [row.split() for row in rows.splitlines()[1:]], lines.splitlines()


def test_cheapest_type_is_first_and_prices_name_their_region(repository):
    rows, lines = offered("--gpus", "8", "--memory", "40GB", cwd=repository)
    assert [(row[0], row[-4:]) for row in rows[:2]] == [
        ("ml.g6e.48xlarge", ["USD", "30.10", "us-west-2", "2"]),
        ("ml.p4d.24xlarge", ["USD", "35.50", "us-east-1", "-"]),
    ]
    assert lines[0] == "hosts: {instance_type: ml.g6e.48xlarge, count: 1}"
    smaller = offered("--gpus", "8", "--memory", "22GB", cwd=repository)[0]
    assert smaller[0][0] == "ml.g5.48xlarge" and "9.50" in smaller[0]


def test_region_limits_types_and_prices(repository):
    rows, _ = offered("--gpus", "8", "--memory", "40GB", "--region", "us-west-2", cwd=repository)
    by_type = {row[0]: row for row in rows}
    assert by_type["ml.p4d.24xlarge"][-2:] == ["37.69", "0"]
    assert by_type["ml.g6e.48xlarge"][-2:] == ["30.10", "2"]
    without = {row["type"]: row["regions_without_it"].split() for row in facts_table("ec2_not_offered").rows()}
    assert all(
        "eu-west-3" not in without[row[0]]
        for row in offered("--gpus", "1", "--region", "eu-west-3", "--all", cwd=repository)[0]
    )


def test_listed_types_are_those_that_fit(tmp_path):
    known = set(pinned_model().shapes["TrainingInstanceType"].enum)
    rows = {row["type"]: row for row in facts_table("instances").rows() if row["type"] in known}
    found = {row[0] for row in offered("--gpus", "4", "--memory", "24GB", "--all", cwd=tmp_path)[0]}
    least = 24 * 10**9 // 2**20
    assert found == {
        kind for kind, row in rows.items() if int(row["gpus"] or 0) >= 4 and int(row["gpu_memory_mib"] or 0) >= least
    }
    assert {"ml.g5.12xlarge", "ml.p4d.24xlarge"} <= found  # an A10G has 24 GB, which EC2 lists as 22,888 MiB
    cpus = {row[0] for row in offered("--memory", "1TiB", "--all", cwd=tmp_path)[0]}
    assert cpus == {kind for kind, row in rows.items() if int(row["memory_mib"] or 0) >= 1 << 20}


def test_lines_to_paste_are_valid(tmp_path):
    for words in (["--gpus", "1"], ["--memory", "8GB"], ["--gpus", "8", "--memory", "80GB"]):
        for line in offered(*words, cwd=tmp_path)[1]:
            hosts = READY.index("hosts:"), READY.index("output:")
            (tmp_path / "job.yaml").write_text(f"{READY[: hosts[0]]}{line}\n{READY[hosts[1] :]}")
            done = smspec("validate", "--strict", cwd=tmp_path)
            assert done.status == 0, done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "pass --gpus N, --memory SIZE, or both"),
        (["--gpus", "-1"], "--gpus: -1 is less than 0"),
        (["--memory", "40"], "--memory: `40` is not a size such as 40GB or 1TiB"),
        (["--gpus", "1", "--region", "Oregon"], "--region: `Oregon` is not the name of an AWS region"),
    ],
)
def test_wrong_arguments_exit_2(tmp_path, words, message):
    done = smspec("offers", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_nothing_that_fits_exits_1(tmp_path):
    done = smspec("offers", "--gpus", "8", "--memory", "2TB", "--region", "us-west-2", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert "no instance type for training has 8 or more GPUs with 2TB of memory in us-west-2, as of " in done.err


def test_types_of_unknown_size_are_not_the_smallest(tmp_path):
    rows, _ = offered("--gpus", "0", cwd=tmp_path)
    sizes = {row["type"]: row["vcpu"] for row in facts_table("instances").rows()}
    assert "" in sizes.values()
    assert all(sizes[row[0]] for row in rows)
