"""The steps of docs/moving-in.md from notebooks to reviewed specs do what the page says."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from support.smspec_command import smspec

PAGE = Path(__file__).parents[3] / "docs" / "moving-in.md"
SECTION = "## From a repository of notebooks to reviewed specs\n"
LOOP = re.compile(r'for notebook in (\S+); do smspec (.*) -o "specs/\$\(basename "\$notebook" \.ipynb\)"; done\n')
SCRIPT = """%%writefile {name}.py
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.parse_args()
"""
ESTIMATOR = """
import sagemaker
from sagemaker.pytorch import PyTorch
bucket = sagemaker.Session().default_bucket()
estimator = PyTorch("{name}.py", role=sagemaker.get_execution_role(), framework_version="2.3.0", py_version="py311",
    instance_type="ml.m5.xlarge", instance_count=1, base_job_name="{name}", hyperparameters={{"epochs": 3}},
    output_path=f"s3://{{bucket}}/{name}/", disable_profiler=True, debugger_hook_config=False)
estimator.fit({{"train": f"s3://{{bucket}}/{name}/train/"}})
"""
NAMES = ("churn", "fraud", "price")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    for name in NAMES:
        cells = [{"cell_type": "code", "source": text.format(name=name)} for text in (SCRIPT, ESTIMATOR)]
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")
    shell("git init -q && git add . && git commit -q -m notebooks", tmp_path)
    return tmp_path


def shell(text, directory):
    subprocess.run(["bash", "-e", "-c", text], cwd=directory, check=True)


def blocks():
    section = PAGE.read_text().partition(SECTION)[2].partition("\n## ")[0]
    return re.findall(r"```bash\n(.*?)```", section, re.DOTALL)


def followed(block, directory):
    """Run a block: smspec in this process, and all else in a shell."""
    loop = LOOP.fullmatch(block)
    if loop:
        for path in sorted(directory.glob(loop[1])):
            words = [word.replace("$notebook", str(path.relative_to(directory))) for word in shlex.split(loop[2])]
            yield smspec(*words, "-o", f"specs/{path.stem}", cwd=directory)
        return
    for own, text in re.findall(r"^smspec (.*)\n|((?:(?!smspec ).*\n|smspec: .*\n)+)", block, re.MULTILINE):
        if own:
            yield smspec(*shlex.split(own), cwd=directory)
        else:
            shell(text, directory)


def test_steps_lead_to_specs_and_a_diff(repository):
    imports, base, checks, change = (list(followed(block, repository)) for block in blocks())
    assert [done.status for done in imports] == [0] * len(NAMES), imports
    for done in imports:
        assert done.err.count("only a run of the source has") == 1
        assert "`role`, `bucket`, `region`" in done.err
    assert base == []
    assert [done.status for done in checks] == [0, 0], checks
    assert "checked 3 jobs" in checks[0].out + checks[0].err
    (compared,) = change
    assert compared.status == 1, compared.err
    for name in NAMES:
        assert name in compared.out and "example-models" in compared.out
