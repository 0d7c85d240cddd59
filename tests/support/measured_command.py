"""Run the command many times in forked, measured processes."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from support.smspec_command import environment

ROOTS = [str(Path(__file__).parents[2] / name) for name in ("tests", "compiler", "runtime", "schemas")]
MOST_MEMORY = 1 << 30
MOST_SECONDS = 60
"""Where a run is stopped that has no end; a test asks for far less."""


class Measured(NamedTuple):
    """Exit status and output of a run, its processor seconds, and its peak memory in megabytes."""

    status: int
    out: str
    err: str
    seconds: float
    megabytes: float


class MeasuredCommand:
    """A server that has loaded what every command loads, so that a run is measured and not the start of Python."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(PYTHONPATH=os.pathsep.join(ROOTS), PYTHONDONTWRITEBYTECODE="1"),
        )

    def __call__(self, *words: str, cwd: str | os.PathLike[str]) -> Measured:
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps([os.fspath(cwd), *words]).encode() + b"\n")
        self._server.stdin.flush()
        return Measured(*json.loads(self._server.stdout.readline()))

    def close(self) -> None:
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def _load() -> None:
    """Load what is loaded late, so that no run pays for it, and keep the copies of a run small."""
    from support.service.api_samples import small_request
    from support.small_job import write_job
    from support.smspec_command import smspec

    with tempfile.TemporaryDirectory() as directory:
        write_job(Path(directory))
        request = Path(directory, "request.json")
        request.write_text(json.dumps(small_request()))
        assert smspec("validate", cwd=directory).status == 0
        smspec("validate", "--api-json", request.name, cwd=directory)
        smspec("import", request.name, cwd=directory)
        smspec("diff", "job.yaml", request.name, cwd=directory)
        request.write_text("smspec: v1\nhosts: {count: x, size: 1}\nname: [")
        smspec("validate", request.name, cwd=directory)
    gc.collect()
    gc.freeze()


def _serve() -> None:
    _load()
    for line in sys.stdin:
        directory, *words = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _run(directory, words, writer)
        os.close(writer)
        with open(reader, "rb") as answer:
            said = answer.read()
        _, status, used = os.wait4(child, 0)
        outcome = json.loads(said) if said else [os.waitstatus_to_exitcode(status), "", "ended without a word"]
        print(json.dumps([*outcome, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]), flush=True)


def _run(directory: str, words: list[str], writer: int) -> None:
    from support.smspec_command import smspec

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    try:
        done = smspec(*words, cwd=directory)
        with open(writer, "wb") as answer:
            answer.write(json.dumps(done).encode())
    finally:
        os._exit(0)


if __name__ == "__main__":
    _serve()
