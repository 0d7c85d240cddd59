"""The pip of a job: there for every script, and compiled in advance for a job that starts it anyway."""

from __future__ import annotations

from pathlib import Path

from support.local.local_jobs import LocalJob, script

STARTING = """
import subprocess, sys
print(subprocess.check_output([sys.executable, "-m", "pip", "--version"], text=True))
"""


def test_pip_is_compiled_if_a_job_installs(tmp_path):
    job = LocalJob(tmp_path / "job")
    script(job, STARTING)
    cache = {"SMSPEC_CACHE_DIR": str(tmp_path / "cache")}
    ended = job.run(cache)
    assert ended.returncode == 0, ended.stderr
    assert "site-packages/pip (python 3." in job.log()
    (plain,) = _environments(tmp_path)
    assert not [*plain.rglob("*.pyc")]

    job.write("src/requirements.txt", "# nothing yet\n")
    ended = job.run({**cache, "PIP_NO_INDEX": "1"})
    assert ended.returncode == 0, ended.stderr
    (compiled,) = [each for each in _environments(tmp_path) - {plain} if (each / "bin/python").exists()]
    assert [*compiled.glob("lib/python3*/site-packages/pip/__pycache__/*.pyc")]


def _environments(directory: Path) -> set[Path]:
    return {path.parent for path in directory.glob("cache/environments/*/complete.json")}
