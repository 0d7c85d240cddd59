"""Instance families cover the pinned API model without overlaps."""

import pytest

from smspec.service.instance_families import (
    EBS_ONLY,
    LOCAL_NVME,
    STORAGE_UNKNOWN,
    TRAINIUM,
    ULTRASERVER,
    family,
    is_known,
    storage,
)
from smspec.service.shapes import pinned_model

TYPES = pinned_model().shapes["TrainingInstanceType"].enum
FAMILIES = {family(kind) for kind in TYPES}


@pytest.mark.parametrize("kind", TYPES)
def test_every_instance_type_is_in_exactly_one_class(kind):
    """A new model may have new families: look up their disks and add each to its set."""
    assert sum(family(kind) in names for names in (EBS_ONLY, LOCAL_NVME, STORAGE_UNKNOWN)) == 1
    assert is_known(kind)


@pytest.mark.parametrize("names", [EBS_ONLY, LOCAL_NVME, STORAGE_UNKNOWN, TRAINIUM, ULTRASERVER])
def test_every_family_is_in_the_model(names):
    assert names <= FAMILIES


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
        ("ml.g7.2xlarge", "unknown"),
        ("ml.x9.large", "unknown"),
        ("m5.large", "unknown"),
        ("ml.m5", "unknown"),
        ("ml.m5.", "unknown"),
        ("", "unknown"),
    ],
)
def test_instance_type_has_its_storage(kind, expected):
    assert storage(kind) == expected
