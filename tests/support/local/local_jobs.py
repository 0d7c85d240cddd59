"""Small jobs and their processes for tests of local runs."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from smspec.source.real_file import ignore_unread, walked
from support.forked_command import start_command

DEADLINE = 120
IMAGE = f"python:{sys.version_info[0]}.{sys.version_info[1]}-slim-bookworm"
"""Of the version that runs the tests, which is the first that a local run asks for its version."""

HEAD = f"""\
smspec: v1
name: job
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {{base: "{IMAGE}"}}
hosts: {{instance_type: ml.m5.large, count: 1, volume: 1GB}}
output: s3://models/job/
"""


class LocalJob:
    """A spec with its source and data in a directory, and its local runs on one engine."""

    def __init__(self, directory: Path, engine: str = "process") -> None:
        self.directory = directory
        self.engine = engine
        self.deadline = DEADLINE
        self.run_directory = directory / "run" / "job"
        (directory / "src").mkdir(parents=True)

    def spec(self, text: str, head: str = HEAD) -> None:
        """Write job.yaml; a key of ``text`` replaces the same key of ``head``."""
        text = textwrap.dedent(text)
        keys = {line.split(":")[0] for line in text.splitlines() if line[:1].isalpha()}
        kept = [line for line in head.splitlines() if line.split(":")[0] not in keys]
        (self.directory / "job.yaml").write_text("\n".join([*kept, text]))

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file next to job.yaml."""
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(textwrap.dedent(content).encode() if isinstance(content, str) else content)

    def words(self, **request: object) -> list[str]:
        """Return the command line of a run; a request is ``hosts=2``, ``data={"train": "x"}`` …; None: a flag"""
        options = [] if "engine" in request else ["--engine", self.engine]
        for name, value in request.items():
            values = [f"{key}={word}" for key, word in value.items()] if isinstance(value, dict) else [value]
            options += [word for one in values for word in (f"--{name}", *([] if one is None else [str(one)]))]
        return [sys.executable, "-m", "smspec", "run", "-o", str(self.run_directory), *options]

    def start(self, environment: dict[str, str] | None = None, **request: object) -> subprocess.Popen:
        """Start a run and return its process."""
        self.process = start_command(
            self.words(**request)[3:],
            cwd=self.directory,
            env={**os.environ, "SMSPEC_STOP_GRACE": "5", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process

    def run(self, environment: dict[str, str] | None = None, **request: object) -> subprocess.CompletedProcess[str]:
        """Run to the end; nothing may be left of it."""
        process = self.start(environment, **request)
        out, err = process.communicate(timeout=self.deadline)
        assert not [line for line in err.splitlines() if line.startswith("Traceback")], err
        self.assert_nothing_left()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def wait_for_log(self, text: str, host: str = "algo-1") -> None:
        """Wait until a host has written ``text`` to its log."""
        log = self.run_directory / "logs" / f"{host}.log"
        end = time.monotonic() + DEADLINE
        while not (log.exists() and text in log.read_text()):
            assert time.monotonic() < end, f"{host} never said {text!r}"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def log(self, host: str = "algo-1") -> str:
        return (self.run_directory / "logs" / f"{host}.log").read_text()

    def summary(self) -> dict:
        return json.loads((self.run_directory / "summary.json").read_text())

    def host(self, host: str = "algo-1") -> Path:
        """Return the host's /opt/ml."""
        return self.run_directory / "hosts" / host / "opt" / "ml"

    def archive(self, name: str = "model.tar.gz") -> dict[str, bytes]:
        """Return the files of model.tar.gz or output.tar.gz."""
        with tarfile.open(self.run_directory / name) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}

    def processes(self) -> list[str]:
        """Return the command lines of all living processes that have something to do with this job."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                variables = Path("/proc", name, "environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(self.directory) in words + variables:
                found.append(f"{name}: {words}")
        return found

    def assert_nothing_left(self) -> None:
        """Neither process nor FIFO is left; what is being ended is given a moment."""
        end = time.monotonic() + 10
        while (left := [*self.processes(), *self._fifos()]) and time.monotonic() < end:
            time.sleep(0.05)
        assert left == []

    def _fifos(self) -> list[str]:
        found = []
        for path in _files(str(self.directory)):
            with contextlib.suppress(FileNotFoundError):  # the process that watches a killed run removes what is left
                found += [path] * stat.S_ISFIFO(os.lstat(path).st_mode)
        return found


def _files(directory: str) -> Iterator[str]:
    """Yield the files below a directory; those of a directory that a job has closed can only be root's to see."""
    for where, directories, names in walked(directory, ignore_unread):
        yield from (os.path.join(where, name) for name in names)
        directories[:] = [name for name in directories if os.access(os.path.join(where, name), os.R_OK | os.X_OK)]


def script(job: LocalJob, text: str, more: str = "") -> None:
    """Make train.py of a text, and a spec that runs it; ``more``: further keys."""
    job.spec(f"source: src/\nentry_point: train.py\n{more}")
    job.write("src/train.py", text)


def checked_job(job: LocalJob, environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Check the job to the end."""
    process = start_command(
        ["check", *options],
        cwd=job.directory,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    streams = process.communicate(timeout=DEADLINE)
    return subprocess.CompletedProcess(process.args, process.returncode, *streams)
