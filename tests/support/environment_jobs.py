"""Jobs whose packages `smspec lock` resolves: a real index, for the real uv and pip."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from support.servers.package_index import Packages, package_server
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

BASE = "python:3.9.18-slim-bookworm"
DIGEST = "sha256:" + "a" * 64
IMAGE = '{base: "python:3.12-slim-bookworm"}'
RESOLVERS = ("uv", "pip")


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
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))
    with package_server(packages) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        yield server


@pytest.fixture(params=RESOLVERS)
def resolver(request, monkeypatch, tmp_path):
    return use(request.param, monkeypatch, tmp_path)


@pytest.fixture
def any_resolver(monkeypatch, tmp_path):
    """Choose for a test of what follows the resolution, or precedes it: uv is fifteen times as fast as pip."""
    return use("uv" if shutil.which("uv") else "pip", monkeypatch, tmp_path)


def use(resolver, monkeypatch, tmp_path):
    """Put uv on PATH, or take everything from it."""
    found = shutil.which("uv")
    if resolver == "uv" and found is None:
        pytest.skip("uv is not installed")
    monkeypatch.setenv("PATH", os.environ["PATH"] if resolver == "uv" else str(tmp_path))
    return resolver


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
