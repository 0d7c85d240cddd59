"""The tables of instance types, from EC2's answers in moto and the model in botocore."""

from __future__ import annotations

import importlib.util
import os

from maintenance.instance_tables import (
    bandwidth_rows,
    described_types,
    instance_rows,
    not_offered_rows,
    offered_types,
    training_types,
)
from smspec.service.facts import table


def directory(package: str) -> str:
    """Return the directory of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    assert found is not None and found.origin is not None
    return os.path.dirname(found.origin)


MOTO = directory("moto")
EMPTY = dict.fromkeys(table("instances").columns, "")


def test_tables_have_the_columns_of_what_ec2_describes():
    described = described_types(MOTO)
    (row,) = instance_rows(["ml.g5.48xlarge"], described, [EMPTY])
    assert row.keys() == EMPTY.keys()
    assert (row["gpu"], row["gpus"], row["arch"], row["efa_interfaces"]) == ("A10G", "8", "x86_64", "1")
    (row,) = instance_rows(["ml.trn1.32xlarge"], described, [EMPTY])
    assert (row["gpus"], row["neurons"], row["neuron_cores"]) == ("0", "16", "2")
    assert "ml.g5.48xlarge" in training_types(directory("botocore"))
    assert "ml.g5.48xlarge".removeprefix("ml.") in offered_types(MOTO)["us-east-1"]


def test_types_that_ec2_no_longer_describes_stay():
    known = {**EMPTY, "type": "ml.p2.xlarge", "gpus": "1"}
    assert instance_rows(["ml.p2.xlarge", "ml.new.large"], {}, [known]) == [known, {**EMPTY, "type": "ml.new.large"}]
    before = [{"type": "ml.p2.xlarge", "regions_without_it": "b"}, {"type": "ml.p9.large", "regions_without_it": "b"}]
    offered = {"a": {"c5.large"}, "b": set()}
    assert not_offered_rows(["ml.c5.large", "ml.p2.xlarge", "ml.new.large"], ["c5.large"], offered, before) == [
        {"type": "*", "regions_without_it": "a b"},
        {"type": "ml.c5.large", "regions_without_it": "b"},
        {"type": "ml.p2.xlarge", "regions_without_it": "b"},
    ]


def test_bandwidth_is_that_of_the_card_that_reaches_s3():
    empty = dict.fromkeys(table("instance_bandwidth").columns, "")
    (row,) = bandwidth_rows(["ml.p4d.24xlarge"], described_types(MOTO), [empty])
    assert row.keys() == empty.keys() and row["network_peak_gbps"] == "100.0"
    known = {**empty, "type": "ml.p2.xlarge"}
    assert bandwidth_rows(["ml.p2.xlarge"], {}, [known]) == [known]
