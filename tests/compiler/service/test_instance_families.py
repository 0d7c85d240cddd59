"""Facts about instance types cover the pinned API model."""

import pytest

from smspec.service.facts import InstanceFacts, instance, instance_bandwidth, known_types, lacks, table
from smspec.service.instance_types import TRAINIUM, ULTRASERVER, family, is_known, storage
from smspec.service.shapes import pinned_model

TYPES = pinned_model().shapes["TrainingInstanceType"].enum
FAMILIES = {family(kind) for kind in TYPES}
WITHOUT_FACTS = {"ml.p6e-gb200.36xlarge"}


def test_table_has_every_instance_type_of_the_model():
    """A new model may have new types: look up their facts and add a row for each."""
    assert sorted(known_types()) == sorted(TYPES)
    assert all(is_known(kind) for kind in TYPES)


def test_storage_of_every_instance_type_is_known():
    assert {kind for kind in TYPES if storage(kind) == "unknown"} == WITHOUT_FACTS & {*TYPES}


@pytest.mark.parametrize("names", [TRAINIUM, ULTRASERVER])
def test_every_family_is_in_the_model(names):
    assert names <= FAMILIES


def test_trainium_families_have_neuron_cores():
    with_cores = {family(kind) for kind in TYPES if (instance(kind) or InstanceFacts(**NOTHING)).neuron_cores}
    assert with_cores == TRAINIUM


NOTHING = dict.fromkeys(("vcpus", "memory_bytes", "gpus", "neuron_cores", "nvme_gb", "efa_interfaces"))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ml.m5.large", "ebs"),
        ("ml.r5.large", "ebs"),
        ("ml.r5d.large", "nvme"),
        ("ml.p3.2xlarge", "ebs"),
        ("ml.p3dn.24xlarge", "nvme"),
        ("ml.p6-b200.48xlarge", "nvme"),
        ("ml.m7i-flex.large", "ebs"),
        ("ml.g7.2xlarge", "nvme"),
        ("ml.p6e-gb200.36xlarge", "unknown"),
        ("ml.x9.large", "unknown"),
        ("m5.large", "unknown"),
        ("ml.m5", "unknown"),
        ("ml.m5.", "unknown"),
        ("", "unknown"),
        ("*", "unknown"),
    ],
)
def test_instance_type_has_its_storage(kind, expected):
    assert storage(kind) == expected


def test_none_is_not_unknown():
    assert instance("ml.m5.large") == InstanceFacts(
        vcpus=2, memory_bytes=8 << 30, gpus=0, neuron_cores=0, nvme_gb=0, efa_interfaces=0
    )
    assert instance("ml.trn1.32xlarge") == InstanceFacts(
        vcpus=128, memory_bytes=512 << 30, gpus=0, neuron_cores=32, nvme_gb=7600, efa_interfaces=8
    )
    assert instance("ml.p3.8xlarge") == InstanceFacts(
        vcpus=None, memory_bytes=None, gpus=4, neuron_cores=0, nvme_gb=0, efa_interfaces=None
    )
    assert instance("ml.p6e-gb200.36xlarge") == InstanceFacts(**NOTHING)
    assert instance("ml.p9.large") is None


@pytest.mark.parametrize(
    ("region", "kind", "expected"),
    [
        ("eu-central-1", "ml.p3dn.24xlarge", True),
        ("us-east-1", "ml.p3dn.24xlarge", False),
        ("eu-central-1", "ml.m5.large", False),
        ("cn-north-1", "ml.p3dn.24xlarge", False),
        ("eu-central-1", "ml.p9.large", False),
        ("", "ml.p3dn.24xlarge", False),
        ("eu-central-1", "*", False),
    ],
)
def test_only_a_listed_region_lacks_a_type(region, kind, expected):
    assert lacks(region, kind) is expected


def test_every_row_of_regions_is_of_a_known_type():
    first, *rows = table("ec2_not_offered").rows()
    looked_at = set(first["regions_without_it"].split())
    assert len(looked_at) == 30
    assert {row["type"] for row in rows} <= set(known_types())
    assert all(set(row["regions_without_it"].split()) <= looked_at for row in rows)


@pytest.mark.parametrize("kind", ["ml.p2.xlarge", "ml.p3.2xlarge"])
def test_regions_without_an_old_type_are_known(kind):
    assert lacks("us-west-1", kind) and not lacks("us-west-2", kind)


def test_bandwidth_is_in_bytes_per_second():
    """ml.g5.xlarge: 2.5 to 10 gigabit per second to the network, 0.7 to 3.5 to its volumes."""
    found = instance_bandwidth("ml.g5.xlarge")
    assert (found.network.baseline, found.network.peak) == (312.5e6, 1250e6)
    assert (found.volumes.baseline, found.volumes.peak) == (87.5e6, 437.5e6)
    assert instance_bandwidth("ml.p3.2xlarge") is None and instance_bandwidth("local") is None
    for each in filter(None, map(instance_bandwidth, known_types())):
        assert 0 < each.network.baseline <= each.network.peak and 0 < each.volumes.baseline <= each.volumes.peak
