"""What a person sees while packages are installed: downloads with their sizes, or with `-v` every line."""

import io
import os
import random
import re
import shutil
import sys
import time

import pytest

from smspec.cli.console import Console
from smspec.local.record.progress import InstallerLines, Progress
from smspec.local.running.events import PackagesDownloaded
from smspec.local.running.request import RunRequest
from support.environment_jobs import index, packages  # noqa: F401 - fixtures
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec_process

UV = """\
Resolved 4 packages in 606ms
Downloading nvidia-cudnn-cu12 (634.0MiB)
Downloading scipy (33.7MiB)
 Downloaded scipy
 Downloaded nvidia-cudnn-cu12
Prepared 4 packages in 5.29s
Installed 4 packages in 247ms
 + scipy==1.17.1
"""
PIP = """\
Collecting pandas
  Downloading pandas-3.1.1-cp311-cp311-manylinux_2_24_x86_64.whl.metadata (79 kB)
Collecting python-dateutil>=2.8.2 (from pandas)
  Downloading https://index.example.com/files/ab/python_dateutil-4.0.0-py3-none-any.whl (230 kB)
Downloading pandas-3.1.1-cp311-cp311-manylinux_2_24_x86_64.whl (10.0 MB)
Installing collected packages: python-dateutil, pandas
"""
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


def followed(text, *, verbosity=0, fails=False):
    """Return what was shown, and the progress in bytes after each line."""
    shown, steps = [], []
    request = RunRequest(
        directory="", scratch_dir="", base_dir="", verbosity=verbosity, downloaded=lambda *step: steps.append(step)
    )
    lines = InstallerLines(shown.append, request)
    with lines:
        for line in text.splitlines():
            lines.add(line)
        if fails:
            lines.fail()
    return shown, steps


def test_downloads_of_uv_are_one_line_with_sizes():
    shown, steps = followed(UV)
    whole = (634 * 2**20) + int(33.7 * 2**20)
    assert shown == ["downloading `nvidia-cudnn-cu12` 665 MB, `scipy` 35.3 MB: 700 MB together"]
    assert steps[1] == (0, whole)
    assert steps[-1] == (whole, whole)


def test_downloads_of_pip_have_sizes_without_metadata():
    shown, steps = followed(PIP)
    assert shown == ["downloading `pandas` 10 MB, `python_dateutil` 230 kB: 10.2 MB together"]
    assert (230_000, 10_230_000) in steps
    assert steps[-1] == (10_230_000, 10_230_000)


def test_verbose_run_has_every_line_and_no_summary():
    shown, _ = followed(UV, verbosity=1)
    assert shown == [f"installing | {line}" for line in UV.splitlines()]


@pytest.mark.parametrize("verbosity", [0, 1])
def test_failure_has_every_line_once(verbosity):
    shown, _ = followed("Collecting a\nERROR: No matching distribution\n", verbosity=verbosity, fails=True)
    assert shown == ["installing | Collecting a", "installing | ERROR: No matching distribution"]


OF_BUILDS = {
    "a version for a size": "  Downloading model-1 (1.2.3 MB)",
    "no number": "Downloading model (. MB)",
    "a size without end": f"Downloading model ({'9' * 400} MB)",
    "a long line": f"Downloading {'a-' * 32_000}",
}


@pytest.mark.parametrize("line", OF_BUILDS.values(), ids=OF_BUILDS)
def test_other_lines_of_builds_are_skipped(line):
    started = time.process_time()
    assert followed(f"{line}\n") == ([], [])
    assert time.process_time() - started < 5


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_of_downloads_has_the_total():
    clock, written = iter(range(100)), Terminal()
    progress = Progress(
        Console(io.StringIO(), written, {"TERM": "xterm"}), lambda: float(next(clock)), lambda: (80, 24)
    )
    progress.report(PackagesDownloaded(size=0, total=700_000_000))
    progress.report(PackagesDownloaded(size=350_000_000, total=700_000_000))
    progress.tick()
    (line,) = [line for line in written.getvalue().splitlines() if "packages" in line]
    assert "50%" in line
    assert "350 MB" in line
    progress.report(PackagesDownloaded(size=700_000_000, total=700_000_000))
    progress.tick()
    assert "packages" not in written.getvalue().split("\x1b[J")[-1]


def test_run_shows_sizes_and_with_verbose_the_installer(index, packages, tmp_path):  # noqa: F811
    noise = random.Random(1).randbytes(1_500_000).hex()
    packages.add("large", "1.0", files={"large/__init__.py": "", "large/data.txt": noise})
    spec = BUILT.replace("3.12-slim-bookworm", f"{MINOR}-slim-bookworm")
    write_job(tmp_path, spec.replace('slim-bookworm"', 'slim-bookworm", python_packages: [large==1.0]'))

    def run(name, *words):
        # pip says the size of each file; uv only where the index does.
        path = os.pathsep.join(each for each in os.get_exec_path() if shutil.which("uv", path=each) is None)
        variables = environment(SMSPEC_CACHE_DIR=str(tmp_path / name), PATH=path)
        done = smspec_process("run", "--engine", "process", *words, cwd=tmp_path, env=variables, timeout=120)
        assert done.status == 0, done.err
        return done.err

    quiet = run("quiet")
    assert re.search(r"^downloading `large` [\d.]+ MB$", quiet, re.MULTILINE), quiet
    assert "installing |" not in quiet
    assert "installing | " in run("verbose", "-v")
