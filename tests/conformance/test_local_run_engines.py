"""The engine of a local run: how it is chosen, what its first lines are, and what the summary says of it."""

from __future__ import annotations

import re

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
