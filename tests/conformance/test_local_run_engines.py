"""The engine of a local run: how it is chosen, what its first lines are, and what the summary says of it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import venv
from pathlib import Path

import pytest

from support.local.local_jobs import IMAGE, LocalJob, script


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    script(job, "print('trained')")
    return job


def test_first_line_names_engine_and_python(job):
    ended = job.run(engine="process")
    assert ended.returncode == 0, ended.stderr
    assert re.match(r"engine: process \(Python 3\.\d+\.\d+\)\n", ended.stderr)
    summary = job.summary()
    assert (summary["engine"], summary["why"]) == ("process", None)
    shown = re.findall(r"^different from SageMaker: (.*)$", ended.stderr, re.MULTILINE)
    assert summary["differences"] == shown


def test_differences_concern_the_job(job):
    """`--strict` makes any of them an error, before anything is written."""
    ended = job.run(hosts=2)
    assert "different from SageMaker: the hosts share this machine: they communicate over `lo`" in ended.stderr
    assert "system_packages" not in ended.stderr
    image = f'image: {{base: "{IMAGE}", system_packages: [libgomp1]}}\n'
    script(
        job,
        "",
        image
        + "network: {subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0], isolation: true}",
    )
    ended = job.run(strict=None, environment={"SMSPEC_ENGINE": "process"})
    assert ended.returncode == 3
    assert "`image.system_packages`: libgomp1 comes from this machine" in ended.stderr
    assert "`network.isolation` is not enforced" in ended.stderr
    assert re.search(r"smspec: --strict: the engine `process` has \d differences from SageMaker", ended.stderr)
    assert job.summary()["status"] == "Completed"  # of the run before


def test_named_engine_never_falls_back(job):
    """The variable counts where no option is given."""
    ended = job.run(engine="finch")
    assert (ended.returncode, ended.stderr.splitlines()) == (3, [ended.stderr.strip()])
    assert ended.stderr.startswith("smspec: `--engine finch` is not available: ")
    assert not job.run_directory.exists()
    ended = job.run(environment={"SMSPEC_ENGINE": "finch"}, engine="process")
    assert ended.returncode == 0


def linked_python(directory: Path) -> Path:
    (directory / "python3").symlink_to(os.path.realpath(sys.executable))
    return directory


def environment(directory: Path) -> Path:
    venv.create(directory / "venv", with_pip=False, symlinks=True)
    return directory / "venv/bin"


def linked_environment(directory: Path) -> Path:
    (directory / "python3").symlink_to(environment(directory) / "python3")
    return directory


def environment_of_a_link(directory: Path) -> Path:
    (directory / "of").mkdir()
    linked_python(directory / "of")
    made = environment(directory)
    (made.parent / "pyvenv.cfg").write_text(f"home = {directory}/of\n")
    (made / "python").unlink(missing_ok=True)
    (made / "python").symlink_to(directory / "of/python3")
    return made


@pytest.mark.needs_namespaces
@pytest.mark.parametrize("made", [linked_python, environment, linked_environment, environment_of_a_link])
@pytest.mark.parametrize("is_named", [False, True], ids=["first on PATH", "named"])
def test_python_may_be_a_link_below_a_hidden_directory(job, made, is_named):
    """Hosts have their own /tmp, so they see the interpreter that a link there leads to, not the link."""
    with tempfile.TemporaryDirectory(prefix="smspec-python-", dir="/tmp") as directory:
        path = made(Path(directory))
        variables = {"PATH": f"{path}:/usr/bin:/bin"}
        options = {"python": path / "python3"} if is_named else {}
        ended = job.run({**variables, "SMSPEC_CACHE_DIR": f"{directory}/cache"}, engine="namespace", **options)
    assert ended.returncode == 0, ended.stderr
    assert "algo-1 | trained" in ended.stderr
