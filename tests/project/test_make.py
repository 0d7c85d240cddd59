"""The Makefile in a fresh clone."""

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
