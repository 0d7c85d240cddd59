"""Local runs as a user without rights, where the tests themselves are root's."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.forked_command import start_command
from support.local.local_jobs import DEADLINE, LocalJob

USER = 54321
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
_CHECK = """
import importlib.util, subprocess, sys, jinja2, yaml
importlib.util.find_spec("jsonschema").loader.get_code("jsonschema")  # to import it may take two seconds
subprocess.run([sys.executable, '-c', ''], check=True)
"""


class OrdinaryJob(LocalJob):
    """A job whose files and processes are those of a user without rights."""

    def words(self, **request: object) -> list[str]:
        return [*AS_USER, readable_python(), *super().words(**request)[1:]]

    def start(self, environment: dict[str, str] | None = None, **request: object) -> subprocess.Popen:
        python = readable_python()  # skips the test first
        # A run may leave files of others, as it should not.
        change = ["chown", "-hR", f"--from={os.geteuid()}", f"{USER}:{USER}"]
        subprocess.run([*change, str(self.directory)], check=True)
        # Beside the job, which may be in a repository: a cache in one is refused where git does not answer.
        cache = self.directory.with_name(f"{self.directory.name}-cache")
        cache.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(cache, USER, USER)
        own = {
            "HOME": str(self.directory),
            "PATH": os.pathsep.join([os.path.dirname(python), "/usr/bin", "/bin", "/usr/sbin", "/sbin"]),
            "SMSPEC_CACHE_DIR": str(cache),
        }
        words = self.words(**request)
        start = words.index("-m")
        self.process = start_command(
            words[start + 2 :],
            python=words[:start],
            cwd=self.directory,
            env={**os.environ, "SMSPEC_STOP_GRACE": "5", **own, **(environment or {}), "PYTHONPATH": modules()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process


@functools.cache
def readable_python() -> str:
    """Return a Python that a user without rights can execute and that finds the modules of smspec; or skip the test."""
    if os.geteuid() != 0:
        pytest.skip("the other tests are of a user without rights")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    minor = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for path in (sys.executable, shutil.which(minor, path="/usr/bin:/usr/local/bin")):
        if path is not None:
            words = [*AS_USER, path, "-c", _CHECK]
            if subprocess.run(words, env={**os.environ, "PYTHONPATH": modules()}, capture_output=True).returncode == 0:
                return path
    pytest.skip(f"no {minor} that every user can execute")


def kind_of(request: pytest.FixtureRequest) -> type[LocalJob]:
    """Return the kind of job that is a fixture's parameter; skip that of a second user if the tests are not root's."""
    if request.param is OrdinaryJob and os.geteuid() != 0:
        pytest.skip("the other tests are of a user without rights")
    kind: type[LocalJob] = request.param
    return kind


def ended(job: LocalJob, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of smspec for a job as its user, who owns the directory above, which has the cache."""
    above = job.directory.parent
    if isinstance(job, OrdinaryJob):
        subprocess.run(["chown", "-R", "-h", f"{USER}:{USER}", str(above)], check=True)
    start = job.words()
    own = {"HOME": str(above), "SMSPEC_CACHE_DIR": str(above / "cache")}
    if isinstance(job, OrdinaryJob):
        own["PYTHONPATH"] = modules()
    process = start_command(
        words,
        python=start[: start.index("-m")],
        cwd=job.directory,
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    streams = process.communicate(timeout=5 * DEADLINE)  # a rehearsal is several runs
    return subprocess.CompletedProcess(words, process.returncode, *streams)


def modules() -> str:
    return os.pathsep.join(path for path in sys.path if Path(path).is_dir())
