"""Caches of packages for tests of jobs that install some: pip is there in advance, which costs more than they do."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from support.local.local_jobs import LocalJob, script


def keep_pip(cache: Path) -> Path:
    """Copy the environment of pip to a cache, as an earlier job with packages leaves it; return the cache.

    That a job creates it is tested where a cache is empty.
    """
    target = cache / "environments"
    target.mkdir(mode=0o700, parents=True)
    cache.chmod(0o700)
    for environment in _environments(Path(os.environ["SMSPEC_CACHE_DIR"], "only-pip")):
        shutil.copytree(environment, target / environment.name, symlinks=True)
    return cache


def _environments(shared: Path) -> list[Path]:
    """Return the environment of pip in a cache that all tests share; a run creates it."""
    if not _complete(shared):
        with tempfile.TemporaryDirectory(prefix="smspec-pip-") as directory:
            job = LocalJob(Path(directory) / "job")
            script(job, "print('ran')\n")
            job.write("src/requirements.txt", "# what makes a job start pip\n")
            ended = job.run({"SMSPEC_CACHE_DIR": str(shared), "PIP_NO_INDEX": "1"})
            assert ended.returncode == 0, ended.stderr
    return _complete(shared)


def _complete(cache: Path) -> list[Path]:
    found = (path.parent for path in cache.glob("environments/*/complete.json"))
    return [path for path in found if (path / "bin/python").exists()]
