"""docs/gitops.md is executed: its files, changes, and commands in order.

`--update` writes what the commands say into the page. Names of jobs end in digests, which any change of the runtime
changes; they are not compared.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.composite_action import ACTION
from support.git_repository import IDENTITY, git, repository
from support.servers.package_index import Packages, package_server
from support.smspec_command import environment

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/gitops.md"
TEXT = PAGE.read_text(encoding="utf-8")
BIN = Path(sys.prefix) / "bin"
BLOCK = re.compile(r"^(?:<!-- (?P<about>[^\n]+) -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(rf"^###? [^\n]*$|{BLOCK.pattern}", re.MULTILINE | re.DOTALL)

installed = pytest.mark.skipif(
    not (BIN / "smspec").exists(), reason="smspec is not installed as a command beside this Python"
)


def shell_environment(**more):
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**environment(), **IDENTITY, "PATH": path, **more}


def run_block(commands, root, **more):
    """Run the commands of a block; return the block as it should be, and the exit status."""
    shown, status = "", 0
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=root,
            env=shell_environment(**more),
            stdout=-1,
            stderr=-2,
            text=True,
            timeout=120,
        )
        shown, status = f"{shown}$ {command}\n{done.stdout}", done.returncode
    return shown, status


def walk(root, **more):
    """Follow the page and yield (block, expected content, expected exit status, actual status)."""
    for step in STEP.finditer(TEXT):
        about, body = step["about"] or "", step["body"]
        if step["kind"] is None:
            if git(root, "rev-list", "--all"):
                git(root, "checkout", "-q", ".")  # the next pull request begins at the main branch
        elif about.startswith("file: "):
            path = root / about.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif step["kind"] == "diff":
            git(root, "apply", "--unidiff-zero", "-", content=body.encode())
        elif step["kind"] == "console":
            commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            announced = int(about.removeprefix("exit status: ")) if about else 0
            yield step, *run_block(commands, root, **more), announced


def without_digests(text):
    return re.sub(r"(?<=-)[0-9a-f]{10}\b", "*" * 10, text)


@installed
def test_page_equals_the_recorded_session(tmp_path, update):
    packages = Packages()
    packages.add("numpy", "2.1.0")
    with package_server(packages) as index:
        settings = {"PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
        outcomes = list(walk(repository(tmp_path / "jobs"), **settings))
    assert len(outcomes) > 8
    if update:
        text = TEXT
        for step, shown, _, _ in reversed(outcomes):
            text = text[: step.start("body")] + shown + text[step.end("body") :]
        PAGE.write_text(text, encoding="utf-8")
        return
    for step, shown, status, announced in outcomes:
        assert without_digests(step["body"]) == without_digests(shown)
        assert status == announced, shown


def blocks(about):
    return [block["body"] for block in BLOCK.finditer(TEXT) if (block["about"] or "").startswith(about)]


@pytest.mark.parametrize("text", blocks("workflow"))
def test_workflows_use_declared_inputs(text):
    workflow = yaml.safe_load(text)
    assert workflow["permissions"]["contents"] == "read"
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("OWNER/smspec@"):
                assert set(step["with"]) <= set(ACTION["inputs"])


def test_every_input_of_the_action_has_a_row():
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`([^`]*)`)?", TEXT, re.MULTILINE)
    given = dict(rows)
    assert list(given) == list(ACTION["inputs"])
    for name, declared in ACTION["inputs"].items():
        assert name == "base" or given[name] == declared["default"]


def test_documented_hook_exists():
    (config,) = map(yaml.safe_load, blocks("pre-commit"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in config["repos"][0]["hooks"]} <= {hook["id"] for hook in hooks}


def test_trust_policy_is_json():
    (policy,) = map(json.loads, blocks("trust policy"))
    assert policy["Statement"][0]["Action"] == "sts:AssumeRoleWithWebIdentity"


@installed
@pytest.mark.parametrize("is_there", [False, True], ids=["new image", "image that is there"])
def test_submission_builds_only_missing_images(is_there, tmp_path):
    """Scripts that record their arguments replace `aws` and `docker`: there is no AWS here."""
    root = repository(tmp_path / "jobs")
    for _ in walk(root):
        pass
    git(root, "checkout", "-q", ".")
    programs = tmp_path / "programs"
    programs.mkdir()
    asked = tmp_path / "asked"
    for name in ("aws", "docker"):
        script = (
            f'#!/bin/sh\necho "{name} $*" >> {asked}\n[ "$2" != describe-images ] || exit {0 if is_there else 254}\n'
        )
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    (workflow,) = map(yaml.safe_load, blocks("workflow: submit"))
    script = workflow["jobs"]["ctr"]["steps"][-1]["run"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=root,
        env=shell_environment(PATH=os.pathsep.join([str(programs), str(BIN), os.environ["PATH"]])),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    image = json.loads((root / "build/ctr/create-training-job.json").read_text())["AlgorithmSpecification"][
        "TrainingImage"
    ]
    calls = asked.read_text().splitlines()
    assert (f"docker push {image}" in calls) is not is_there
    assert calls[-1] == "aws sagemaker create-training-job --cli-input-json file://build/ctr/create-training-job.json"


def test_readme_and_page_agree():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme[readme.index("## In a pull request") : readme.index("## Comparison")]
    shown = re.findall(r"^    (.+)$", part, re.MULTILINE)
    assert shown
    assert set(shown) <= set(TEXT.splitlines())
