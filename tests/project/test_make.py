"""The Makefile in a fresh clone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_python_without_venv_leaves_no_partial_venv(tmp_path):
    """Debian's python3 without python3-venv writes a partial .venv and fails; the next make must start again."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python-without-ensurepip"
    python.write_text('#!/bin/sh\nmkdir -p "$3/bin" && ln -s /bin/sh "$3/bin/python"\nexit 1\n')
    python.chmod(0o755)
    done = subprocess.run(
        ["make", "demo", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "apt-get install python3-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_lock_has_every_package_of_development_and_no_place():
    """`make dev-lock` writes names and versions alone: nothing of the machine where it ran."""
    lines = [line for line in (ROOT / "dev.lock").read_text().splitlines() if not line.startswith("#")]
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9a-z.!]+( ; [a-z0-9_'.<>=!*() -]+)?", line, re.IGNORECASE), line
    locked = {line.partition("==")[0] for line in lines}
    assert {"pyyaml", "jsonschema", "jinja2", "boto3", "rich", "tomli", "pygls", "pytest", "mypy"} <= locked
    text = (ROOT / "pyproject.toml").read_text()
    groups = re.findall(r"(?ms)^(?:dependencies|dev) = \[$(.*?)^\]$", text)
    asked = {name.lower() for name in re.findall(r"(?m)^  \"([\w.-]+)", "".join(groups))}
    assert len(groups) == 2 and {re.sub(r"[._]", "-", name) for name in asked} <= locked, "run `make dev-lock`"
    assert not {name for name in locked if name.startswith(("torch", "nvidia", "triton"))}, "gigabytes"
