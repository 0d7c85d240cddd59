"""Imports in functions and methods: those that every run calls are followed, and no others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from smspec.pipeline.script_source import ProgramSource
from smspec.script.reach.reaching import Reaching
from support.script.certain_calls import CERTAIN, DOUBTFUL


def reach(directory, files):
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    source = ProgramSource({path: str(directory / path) for path in files}, "src", ("",), searches=False)
    return Reaching(source, ("",), (3, 12), searches=False).from_script("train.py", None)


def run(directory):
    return subprocess.run([sys.executable, "-S", "train.py"], cwd=directory, capture_output=True, text=True).returncode


BEFORE_ERRORS = {"train.py": "try:\n    import absent\nexcept KeyError:\n    pass\n"}


def test_import_that_starts_what_may_fail(tmp_path):
    assert [one.name for one in reach(tmp_path, BEFORE_ERRORS).foreign] == ["absent"]
    assert run(tmp_path) == 1


@pytest.mark.parametrize("case", CERTAIN)
def test_import_that_every_run_reaches(case, tmp_path):
    assert [one.name for one in reach(tmp_path, CERTAIN[case]).foreign] == ["absent"]
    assert run(tmp_path) == 1


@pytest.mark.parametrize("case", DOUBTFUL)
def test_import_that_not_every_run_reaches(case, tmp_path):
    assert not reach(tmp_path, DOUBTFUL[case]).foreign
    assert run(tmp_path) == 0
