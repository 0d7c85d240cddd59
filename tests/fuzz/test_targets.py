"""The fuzz targets pass for their seeds and for parts of them, without atheris."""

import importlib.util
import sys
from pathlib import Path

import pytest

from support.sampled_cases import IS_WHOLE

SPECIFICATION = importlib.util.spec_from_file_location("fuzz_targets", Path(__file__).with_name("targets.py"))
targets = importlib.util.module_from_spec(SPECIFICATION)
sys.modules[SPECIFICATION.name] = targets
SPECIFICATION.loader.exec_module(targets)


@pytest.mark.parametrize("name", targets.TARGETS)
def test_target_passes_its_seeds(name):
    """A quarter of them, unless all are asked for: tests/rejected have each in full."""
    target = targets.TARGETS[name]
    seeds = target.seeds()[:: 1 if IS_WHOLE else 4]
    assert seeds
    statuses = set()
    for number, path in enumerate(seeds):
        content = path.read_bytes()
        statuses.add(target(content))
        target(content[: len(content) // 2] if number % 2 else content[len(content) // 3 :])
    assert statuses <= {0, 1}
    assert target(b"\xff\0[{") in (0, 1)


def test_target_reports_a_broken_promise():
    with pytest.raises(AssertionError):
        targets.Target("job.yaml", ["validate"], (0,), ())(b"name: [")
