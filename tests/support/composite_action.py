"""Run a composite GitHub action like a runner: its steps in bash, with files for outputs.

Only what `action.yml` uses is understood: `${{ … }}` of one name, and `if` that compares. Actions of others are noted,
not run; `actions/setup-python` answers with this Python.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]


class Run(NamedTuple):
    """How the action ended. ``used`` are the inputs of the actions of others, by the names of their steps."""

    status: int
    log: str
    outputs: dict[str, dict[str, str]]
    used: dict[str, dict[str, str]]
    summary: str


def run_action(
    repository: Path,
    scratch: Path,
    inputs: Mapping[str, str],
    event: Mapping[str, object],
    *,
    api: str = "http://127.0.0.1:9",
    token: str = "t0ken",
    action: Path = ROOT,
    skip: tuple[str, ...] = ("Install smspec",),
    failing: tuple[str, ...] = (),
) -> Run:
    """Run the steps in a repository. Without `Install smspec`, this environment stands in for what it makes.

    ``failing``: the steps of others that fail.
    """
    temporary = scratch / "temp"
    temporary.mkdir(parents=True, exist_ok=True)
    if "Install smspec" in skip and not (temporary / "smspec").exists():
        (temporary / "smspec").symlink_to(sys.prefix)
    (scratch / "event.json").write_text(json.dumps(event), encoding="utf-8")
    summary = scratch / "summary.md"
    summary.write_text("", encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SMSPEC_", "GITHUB_", "GIT_"))},
        "GITHUB_ACTION_PATH": str(action),
        "GITHUB_API_URL": api,
        "GITHUB_EVENT_PATH": str(scratch / "event.json"),
        "GITHUB_REPOSITORY": "example/jobs",
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(temporary),
    }
    given = {name: str(declared.get("default", "")) for name, declared in ACTION["inputs"].items()} | dict(inputs)
    values = {f"inputs.{name}": value for name, value in given.items()}
    values |= {"github.token": token, "github.action_path": str(action)}
    outputs: dict[str, dict[str, str]] = {}
    used: dict[str, dict[str, str]] = {}
    log = ""
    status = 0
    for step in STEPS:
        condition = step.get("if", "")
        if step["name"] in skip or (status and "always()" not in condition) or not _holds(condition, values):
            continue
        if "uses" in step:
            status = status or step["name"] in failing
            used[step["name"]] = {name: _filled(value, values) for name, value in step["with"].items()}
            if step["uses"].startswith("actions/setup-python@"):
                values["steps.python.outputs.python-path"] = sys.executable
            continue
        said = scratch / "output"
        said.write_text("", encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=_filled(step.get("working-directory", ""), values) or repository,
            env={
                **environment,
                "GITHUB_OUTPUT": str(said),
                **{name: _filled(value, values) for name, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
        log += done.stdout + done.stderr
        told = dict(line.split("=", 1) for line in said.read_text(encoding="utf-8").splitlines())
        if "id" in step:
            outputs[step["id"]] = told
            values |= {f"steps.{step['id']}.outputs.{name}": value for name, value in told.items()}
        status = status or done.returncode
    return Run(int(status), log, outputs, used, summary.read_text(encoding="utf-8"))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: _value(found[1], values), str(text))


def _value(name: str, values: Mapping[str, str]) -> str:
    # What a step did not say is empty; an input that is not declared is a mistake of ours.
    return values.get(name, "") if name.startswith("steps.") else values[name]


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    for part in filter(None, condition.removeprefix("always() && ").split(" && ")):
        name, operator, word = re.fullmatch(r"([\w.-]+) (==|!=) '(\w*)'", part).groups()
        if (_value(name, values) == word) != (operator == "=="):
            return False
    return True
