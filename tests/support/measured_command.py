"""Run the command many times in forked, measured processes."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
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
        """Run the command in a fork of its own."""
        (done,) = self._runs(words, cwd, None, [""])
        return done

    def with_each(
        self, contents: Iterable[bytes], file: str | os.PathLike[str], words: Iterable[str], cwd: str | os.PathLike[str]
    ) -> Iterator[Measured]:
        """Run the command with each content of a file, each in a fork of its own."""
        with tempfile.TemporaryDirectory(dir=os.path.dirname(cwd)) as directory:
            paths = []
            for content in contents:
                paths.append(os.path.join(directory, str(len(paths))))
                with open(paths[-1], "wb") as file_of_content:
                    file_of_content.write(content)
            yield from self._runs(words, cwd, file, paths)

    def _runs(
        self, words: Iterable[str], cwd: str | os.PathLike[str], file: str | os.PathLike[str] | None, paths: list[str]
    ) -> Iterator[Measured]:
        assert self._server.stdin and self._server.stdout
        asked = [os.fspath(cwd), file and os.fspath(file), paths, *words]
        self._server.stdin.write(json.dumps(asked).encode() + b"\n")
        self._server.stdin.flush()
        for answer in json.loads(self._server.stdout.readline()):
            yield Measured(*answer)

    def close(self) -> None:
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def load() -> None:
    """Load what is loaded late, so that no run pays for it, and keep the copies of a run small."""
    from support.hostile_texts import filled
    from support.service.api_samples import small_request
    from support.small_job import write_job
    from support.smspec_command import smspec
    from support.spec.job_documents import WHOLE_JOB

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
        request.write_text(json.dumps(filled(WHOLE_JOB, "x")))
        smspec("validate", request.name, cwd=directory)
    gc.collect()
    gc.freeze()


def _serve() -> None:
    load()
    for line in sys.stdin:
        directory, file, contents, *words = json.loads(line)
        done = []
        for content in contents:
            if file is not None:
                os.replace(content, os.path.join(directory, file))
            done.append(_measured(directory, words))
        print(json.dumps(done), flush=True)


def _measured(directory: str, words: list[str]) -> list[object]:
    """Run the command in a fork, whose peak memory is that of one run."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run(directory, words, writer)
    os.close(writer)
    with open(reader) as answer:
        done = json.loads(answer.read() or "null")
    _, status, used = os.wait4(child, 0)
    done = done or [os.waitstatus_to_exitcode(status), "", "ended without a word"]
    return [*done, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]


def _run(directory: str, words: list[str], writer: int) -> None:
    from support.smspec_command import smspec

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    try:
        with open(writer, "w") as answer:
            json.dump(smspec(*words, cwd=directory), answer)
    finally:
        os._exit(0)


if __name__ == "__main__":
    _serve()
