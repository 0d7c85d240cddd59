"""The pre-commit hook, installed by pre-commit and run by real commits."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.git_repository import IDENTITY, commit, git, repository
from support.installed_program import installed
from support.sampled_cases import only_with_all_programs
from support.small_job import BUILT, READY, write_job

ROOT = Path(__file__).parents[2]
PRE_COMMIT = installed("pre-commit")

pytestmark = [
    pytest.mark.skipif(PRE_COMMIT is None, reason="pre-commit is not installed"),
    pytest.mark.xdist_group("pre-commit"),
    only_with_all_programs,  # the environment of the hook takes longer to make than any other test
]

BASE = "smspec: v1\nhosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}\n"
EXTENDING = READY.replace("name: small", "name: extending\nextends: [../base.yaml]").replace(
    "hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}\n", ""
)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """A repository that has the hook of smspec at its working state, and the environment for commits."""
    place = tmp_path_factory.mktemp("pre-commit")
    ours = repository(place / "smspec")
    for name in ("compiler", "runtime", "schemas"):
        shutil.copytree(ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, ours)
    revision = commit(ours)
    config = f"repos: [{{repo: {ours}, rev: {revision}, hooks: [{{id: smspec-validate}}]}}]\n"
    # A hook compiles what it imports. To compile all of botocore takes as long as the rest of the installation.
    compiled_late = {"PIP_NO_COMPILE": "0", "PYTHONDONTWRITEBYTECODE": ""}  # "0" is how pip spells --no-compile
    environment = {**os.environ, **IDENTITY, **compiled_late, "PRE_COMMIT_HOME": str(place / "home")}
    probe = repository(place / "probe")
    (probe / ".pre-commit-config.yaml").write_text(config)
    made = subprocess.run(
        [PRE_COMMIT, "install-hooks"], cwd=probe, env=environment, capture_output=True, text=True, timeout=280
    )
    if made.returncode and "pip" in made.stdout:
        pytest.skip("pip cannot reach the packages that smspec needs")
    assert made.returncode == 0, made.stdout + made.stderr
    subprocess.run([PRE_COMMIT, "install"], cwd=probe, env=environment, capture_output=True, check=True)
    return probe, environment


@pytest.fixture
def jobs(tmp_path, hooks):
    """A copy of the repository with the hook and nothing else."""
    return shutil.copytree(hooks[0], tmp_path / "jobs")


@pytest.fixture
def committed(jobs, hooks):
    """Commit everything; return whether the hook passed, and its output."""

    def attempt(*words):
        git(jobs, "add", "-A")
        done = subprocess.run(
            ["git", "commit", "-m", "x", *words], cwd=jobs, env=hooks[1], capture_output=True, text=True, timeout=120
        )
        return done.returncode == 0, done.stdout + done.stderr

    return attempt


def test_hook_passes_without_a_job(jobs, committed):
    (jobs / "pipeline.yaml").write_text("steps: [a, b]\n")
    passed, said = committed()
    assert passed, said


def test_faulty_spec_is_not_committed(jobs, committed):
    write_job(jobs, BUILT.replace("count: 1", "count: 0"))
    passed, said = committed()
    assert not passed
    assert "--> job.yaml:8:" in said
    write_job(jobs)
    assert committed()[0]


def test_yaml_other_than_specs_is_skipped(jobs, committed):
    write_job(jobs)
    (jobs / "values.yaml").write_text("replicas: 3\n")
    (jobs / "broken.yaml").write_text("a: [1, 2\n")
    (jobs / "templated.yml").write_text("{{- if .Values.x }}\na: 1\n{{ end }}\n")
    passed, said = committed()
    assert passed, said


def test_base_is_checked_through_its_jobs(jobs, committed):
    (jobs / "base.yaml").write_text(BASE)
    write_job(jobs / "job", EXTENDING)
    passed, said = committed()
    assert passed, said
    (jobs / "base.yaml").write_text(BASE.replace("count: 1", "count: 0"))
    passed, said = committed()
    assert not passed
    assert "base.yaml:2:" in said


def test_deleted_base_fails_the_commit(jobs, committed):
    """pre-commit passes no names of deleted files, and passes over hooks that look at names."""
    (jobs / "base.yaml").write_text(BASE)
    write_job(jobs / "job", EXTENDING)
    assert committed()[0]
    (jobs / "base.yaml").unlink()
    passed, said = committed()
    assert not passed
    assert "base.yaml" in said


def test_unstaged_changes_are_ignored(jobs, hooks):
    write_job(jobs)
    git(jobs, "add", "-A")
    (jobs / "job.yaml").write_text("smspec: v1\n")
    done = subprocess.run(["git", "commit", "-m", "x"], cwd=jobs, env=hooks[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (jobs / "job.yaml").read_text() == "smspec: v1\n"


def test_many_specs_are_checked_in_one_process(jobs, committed):
    """pre-commit would share names out over processes, and none would see two jobs of one name."""
    for number in range(60):
        write_job(
            jobs / f"job-{number}",
            READY.replace("name: small", f"name: job-{number}").replace("/small/", f"/j{number}/"),
        )
    assert committed()[0]
    for number in (3, 57):
        spec = jobs / f"job-{number}/job.yaml"
        spec.write_text(spec.read_text() + "checkpoints: s3://models/shared/\n")
    passed, said = committed()
    assert not passed
    assert "SM702" in said


def test_modules_of_the_repository_are_not_imported(jobs, committed):
    for name in ("smspec", "smspec_schemas"):  # not yaml: pre-commit itself would take it
        (jobs / f"{name}.py").write_text("raise SystemExit('not ours')\n")
    write_job(jobs)
    passed, said = committed()
    assert passed, said


def test_arguments_of_the_hook_can_be_set(jobs, committed):
    config = (jobs / ".pre-commit-config.yaml").read_text()
    (jobs / ".pre-commit-config.yaml").write_text(
        config.replace("{id: smspec-validate}", "{id: smspec-validate, args: [good, --strict]}")
    )
    write_job(jobs / "good")
    write_job(jobs / "bad", BUILT.replace("count: 1", "count: 0"))
    passed, said = committed()
    assert passed, said
    write_job(jobs / "good", BUILT + "spot: {max_wait: 2d}\n")
    assert not committed()[0]


def test_missing_directory_fails(jobs, committed):
    config = (jobs / ".pre-commit-config.yaml").read_text()
    (jobs / ".pre-commit-config.yaml").write_text(
        config.replace("{id: smspec-validate}", "{id: smspec-validate, args: [nowhere]}")
    )
    passed, said = committed()
    assert not passed
    assert "nowhere" in said
