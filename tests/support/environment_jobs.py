"""Jobs whose packages `smspec lock` resolves: a real index, for the real uv."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from support.installed_program import installed
from support.servers.package_index import Packages, package_server
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

BASE = "python:3.9.18-slim-bookworm"
DIGEST = "sha256:" + "a" * 64
IMAGE = '{base: "python:3.12-slim-bookworm"}'


@pytest.fixture
def packages():
    """Packages for two Pythons, with markers, a namespace, and wheels for several platforms."""
    found = Packages()
    found.add("ctr-model", "1.0", "ctr-features>=1", 'ctr-compat; python_version < "3.10"')
    found.add("ctr-model", "2.0", "ctr-features>=1", python=">=3.10")
    found.add("ctr-features", "1.0", "org-io")
    found.add("ctr-features", "1.1", "org-io", 'ctr-mac; sys_platform == "darwin"')
    found.add("ctr-compat", "0.1", files={"ctr_compat.py": ""})
    found.add("org-io", "3.0", files={"org/io/__init__.py": "", "org/readers.py": ""})
    for tag in (
        "cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp39-cp39-manylinux_2_28_x86_64",
        "cp39-cp39-manylinux_2_39_x86_64",
        "cp39-cp39-manylinux_2_28_aarch64",
        "cp312-cp312-manylinux_2_28_x86_64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp39-cp39-macosx_11_0_arm64",
    ):
        found.add("ctr-kernels", "5.0", files={"ctr_kernels/__init__.py": "", "ctr_kernels/fast.so": tag}, tag=tag)
    return found


@pytest.fixture
def index(packages, monkeypatch, tmp_path):
    """Serve the packages as the only index of this process."""
    if installed("uv") is None:
        pytest.skip("uv is not installed")
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))
    with package_server(packages) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        yield server


@pytest.fixture(scope="session")
def python_without_uv(tmp_path_factory):
    """Return a Python that finds what this one has, in an environment without uv."""
    root = tmp_path_factory.mktemp("without-uv") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    (library,) = root.glob("lib/python*/site-packages")
    paths = [path for path in sys.path if path]
    (library / "of_the_tests.pth").write_text("".join(f"{path}\n" for path in paths))
    return root / "bin/python"


def job(directory, *packages, base=BASE, requirements="", image=""):
    lines = [f"base: {base}", f"python_packages: {json.dumps(packages)}" if packages else ""]
    lines += ["python_requirements: requirements.txt" if requirements else "", image]
    text = ", ".join(line for line in lines if line)
    directory.mkdir(parents=True, exist_ok=True)
    write_job(directory, BUILT.replace(IMAGE, f"{{{text}}}"))
    (directory / "requirements.txt").write_text(requirements)
    return directory


def lock(directory, *words, base=BASE):
    return smspec("lock", "--digest", f"{base}={DIGEST}", *words, cwd=directory)


def environment(directory):
    """Return the only environment of the lock, and its file."""
    ((key, found),) = json.loads((directory / "smspec.lock").read_text())["environments"].items()
    return found, (directory / f"smspec.lock.d/{key}.txt").read_text()
