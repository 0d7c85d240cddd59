"""Workflows, the action, hooks, and GitLab jobs are valid for their tools."""

import subprocess
from pathlib import Path

import pytest
import yaml

from support.installed_program import installed

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def checked(program, *words):
    """Run a checker; skip the test by name where it is not installed."""
    found = installed(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([found, *words], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_passes_actionlint(workflow):
    checked("actionlint", str(workflow))


@pytest.mark.parametrize(
    ("schema", "file"),
    [("github-actions", "action.yml"), ("gitlab-ci", "docs/ci/gitlab-ci.yml")]
    + [("github-workflows", str(workflow.relative_to(ROOT))) for workflow in WORKFLOWS],
)
def test_file_matches_its_schema(schema, file, capsys):
    """In this process: to start this checker takes longer than the checks."""
    check = pytest.importorskip("check_jsonschema").main
    words = ["--builtin-schema", f"vendor.{schema}", str(ROOT / file)]
    assert check.main(words, standalone_mode=False) == 0, capsys.readouterr()


def test_hooks_are_a_valid_pre_commit_manifest():
    checked("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")


def test_scripts_of_the_action_pass_shellcheck(tmp_path):
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    for number, script in enumerate(step["run"] for step in steps if "run" in step):
        (tmp_path / f"step-{number}.sh").write_text(f"#!/usr/bin/env bash\n{script}\n")
    checked("shellcheck", *map(str, sorted(tmp_path.glob("*.sh"))))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_requests_minimal_permissions(workflow):
    """By default, GitHub grants a token all permissions."""
    said = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert said["permissions"].get("contents") == "read"
    assert "pull_request_target" not in said[True]  # YAML 1.1 reads `on` as true
