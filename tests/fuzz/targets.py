"""Fuzz targets: each file that the command reads, processed in this process.

A target returns the exit status and raises AssertionError where the command breaks a promise.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

ROOT = Path(__file__).parents[2]
LINES_FROM = {"line": "column", "end_line": "end_column"}


def _place(**files: str) -> Path:
    directory = Path(tempfile.mkdtemp(prefix="smspec-fuzz-"))
    write_job(directory, BUILT, **files)
    (directory / ".git").mkdir()
    return directory


class Target:
    """A file of a directory, and the words that read it; ``seeds`` are globs of what to begin with."""

    def __init__(self, name: str, words: list[str], statuses: tuple[int, ...], seeds: tuple[str, ...]) -> None:
        self.name = name
        self.words = words
        self.statuses = statuses
        self._seeds = seeds
        self._directory: Path | None = None

    def __call__(self, content: bytes) -> int:
        self._directory = self._directory or _place()
        path = self._directory / self.name
        path.write_bytes(content)
        done = smspec(*self.words, cwd=self._directory)
        assert done.status in self.statuses, done.err
        assert "internal error" not in done.err
        if "json" in self.words:
            _check_places(json.loads(done.out), self.name, content)
        return done.status

    def seeds(self) -> list[Path]:
        return [path for pattern in self._seeds for path in sorted(ROOT.glob(pattern)) if path.is_file()]


def _check_places(records: list[dict[str, object]], name: str, content: bytes) -> None:
    lines = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    for record in records:
        if os.path.normpath(str(record["file"])) == name:
            for line, column in LINES_FROM.items():
                number = int(str(record[line]))
                assert 1 <= number <= len(lines), record
                assert 1 <= int(str(record[column])) <= len(lines[number - 1]) + 1, record


_CHECK = ["validate", "--format", "json"]
TARGETS = {
    "spec": Target("job.yaml", _CHECK, (0, 1), ("specs/*/job.yaml", "tests/rejected/*/job.yaml")),
    "request": Target(
        "request.json",
        [*_CHECK, "--api-json", "request.json"],
        (0, 1),
        ("tests/rejected/*/request.json", "tests/golden/*/create-training-job.json"),
    ),
    "lock": Target("smspec.lock", _CHECK, (0, 1), ("tests/rejected/*/smspec.lock",)),
    "policy": Target("smspec.toml", _CHECK, (0, 1), ("tests/rejected/*/smspec.toml",)),
    "script": Target("src/train.py", _CHECK, (0, 1), ("specs/*/src/*.py", "tests/rejected/*/src/*.py")),
    "source": Target("source.txt", ["import", "source.txt"], (0, 1), ("tests/imported/*/source.*",)),
}
