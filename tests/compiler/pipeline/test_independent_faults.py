"""A fault skips only the checks of the faulty member: two faults are reported like each alone."""

import random
from pathlib import Path

import pytest
from hypothesis import settings

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import check_spec
from smspec.spec.schema import keys_in
from support.sampled_cases import IS_WHOLE
from support.spec.independent_faults import FAULTS, NEEDS, found, lay_out, written


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def alone(directory):
    return {name: found(directory, name) for name in FAULTS}


def test_valid_job_has_no_findings(directory):
    assert found(directory) == set()


def test_every_fault_is_reported(alone):
    assert [name for name, told in alone.items() if not told] == []


BESIDE_EACH = (5 if IS_WHOLE else 2) if settings.default.derandomize else len(FAULTS)
"""All pairs take a minute: `make explore` looks at them."""


def beside(one):
    """Return faults of other keys that can be combined with this one."""
    others = [other for other in FAULTS if FAULTS[other][0] != FAULTS[one][0]]
    return random.Random(one).sample(others, min(BESIDE_EACH, len(others)))


def expected(alone, one, other):
    """Return findings that two combined faults must have, and those that they may have."""
    certain, possible = set(), set()
    for name, another in ((one, other), (other, one)):
        needs = FAULTS[another][0] in NEEDS.get(name, ())
        (possible if needs else certain).update(alone[name])
    return certain, possible


@pytest.mark.parametrize("one", FAULTS)
def test_two_faults_are_reported_as_each_alone(directory, alone, one):
    for other in beside(one):
        certain, possible = expected(alone, one, other)
        told = found(directory, one, other)
        assert certain - told == set(), f"{one} and {other}: hidden"
        assert told - certain - possible == set(), f"{one} and {other}: false"


@pytest.mark.parametrize("key", keys_in(()))
def test_every_key_can_be_misspelled(directory, key):
    for word in (key[:-1], f"{key}s"):
        Path(directory, "job.yaml").write_text(written([]) + f"{word}: {{dev: {{}}}}\n")
        assert check_spec(str(Path(directory, "job.yaml")), None, {}, InputCache()).diagnostics
