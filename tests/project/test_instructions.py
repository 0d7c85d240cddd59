"""The job of CI that compares instructions of the compile path with those of the base commit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.instructions import counter, slower

ROOT = Path(__file__).parents[2]


def test_three_percent_more_is_accepted_and_more_is_not():
    before = {"validate": 1000, "render": 1000, "again": 1000}
    assert slower(before, {"validate": 1030, "render": 900, "again": 1031}) == ["again"]


def test_machine_without_counters_skips_by_name(tmp_path):
    environment = os.environ | {"PATH": str(tmp_path), "PYTHON": sys.executable}
    bash = shutil.which("bash")
    for name in ("dirname", "git"):
        (tmp_path / name).symlink_to(shutil.which(name))
    command = [bash, ROOT / ".ci/instructions"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("skipped: neither perf nor valgrind")


def test_more_work_is_more_instructions():
    found = counter()
    if found is None:
        pytest.skip("neither perf nor valgrind counts instructions here")
    _, count = found
    few, many = (count([shutil.which("seq"), str(most)], os.environ) for most in (10, 100_000))
    assert 2 * few < many


def test_ci_compares_instructions():
    assert "\nbash .ci/instructions\n" in (ROOT / ".ci/run").read_text()
