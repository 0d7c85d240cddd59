"""Jobs that `smspec check` checks, with real interpreters, packages, and processes."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from support.forked_command import start_command
from support.local.local_jobs import DEADLINE, LocalJob
from support.local.package_cache import keep_pip
from support.wording import faults

HOST = f"{sys.version_info[0]}.{sys.version_info[1]}"
SPEC = """
image: {{base: "python:{version}-slim-bookworm"{more}}}
source: src/
entry_point: train.py
"""
PARSER = """
import argparse, os
parser = argparse.ArgumentParser()
for name, kind in {"lr": float, "epochs": int}.items():
    parser.add_argument(f"--{name}", type=kind)
"""


class Checked:
    """A job that is checked; packages come from a directory."""

    def __init__(self, tmp_path: Path) -> None:
        self.job = LocalJob(tmp_path / "job")
        self.outside = tmp_path / "outside"
        self.outside.mkdir()
        self.wheels = tmp_path / "wheels"
        self.wheels.mkdir()
        self.temporary = tmp_path / "tmp"
        self.temporary.mkdir()
        self.cache = tmp_path / "cache"
        self.environment = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(tmp_path / "uv"),
            "TMPDIR": str(self.temporary),
            "HOME": str(self.outside),
            "PYENV_ROOT": os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"),
            "AWS_SECRET_ACCESS_KEY": "of-the-author",
        }

    def spec(self, rest: str = "", version: str = HOST, more: str = "") -> None:
        """Write the spec. Only with packages it has a separate cache: their names mean others in each test."""
        if "python_packages" in more and not self.cache.exists():
            self.environment["SMSPEC_CACHE_DIR"] = str(keep_pip(self.cache))
        self.job.spec(SPEC.format(version=version, more=more) + rest)

    def start(self, *options: str) -> subprocess.Popen:
        return start_command(
            ["check", "--format", "json", *options],
            cwd=self.job.directory,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def check(self, *options: str) -> tuple[int, list[dict], str]:
        """Return the exit status, the findings, and standard error; nothing may be left."""
        process = self.start(*options)
        out, err = process.communicate(timeout=DEADLINE)
        assert "\nTraceback" not in f"\n{err}", err  # of smspec, not of an installer
        self.assert_nothing_left()
        records = json.loads(out) if out else []
        assert [(record["message"], wrong) for record in records if (wrong := faults(record))] == []
        return process.returncode, records, err

    def assert_nothing_left(self) -> None:
        """Neither a process nor a file is left, and the author's directories are unchanged."""
        end = time.monotonic() + 10
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        assert self.processes() == []
        assert list(self.temporary.iterdir()) == []
        others = {"uv", ".rustup"}  # pip asks for the version of rustc, which may write its settings
        assert [path for path in self.outside.rglob("*") if path.is_file() and not others & {*path.parts}] == []
        assert {path.name for path in self.job.directory.iterdir()} == {"job.yaml", "src"}
        assert not list(self.job.directory.rglob("__pycache__"))

    def processes(self) -> list[str]:
        """Return the command lines of all living processes whose words or variables name the temporary directory."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", name, "cmdline").read_bytes()
                variables = Path("/proc", name, "environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(self.temporary) in words + variables:
                found.append(f"{name}: {os.fsdecode(words)}")
        return found


def codes(records):
    return [(record["severity"], record["code"]) for record in records]


def wheel(directory: Path, name: str, text: str, requires: str = "") -> None:
    """Write a wheel by hand."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)


def other_python() -> str:
    """Return the oldest version below ~/.pyenv that the runtime supports and that is not this one."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(
        tuple(map(int, os.path.basename(path).split(".")[:2]))
        for path in glob.glob(os.path.join(root, "versions", "3.*"))
    )
    usable = [version for version in found if version >= (3, 8) and version < sys.version_info[:2]]
    if not usable:
        pytest.skip("there is no older Python below ~/.pyenv")
    return f"{usable[0][0]}.{usable[0][1]}"
