"""A Python that this machine lacks: fetched from a mirror with `--fetch-python`, else the nearest one is used."""

from __future__ import annotations

import functools
import http.server
import json
import os
import platform
import shutil
import sys
import tarfile
import threading
from pathlib import Path

import pytest

from support.local.local_jobs import LocalJob, checked_job

ROOT = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
USUAL = os.pathsep.join([os.path.join(sys.base_prefix, "bin"), "/usr/bin", "/bin"])
OMITTED = {"test", "tests", "idlelib", "lib2to3", "tkinter", "site-packages", "__pycache__", "turtledemo"}
SHOW = (
    "import argparse, sys\nargparse.ArgumentParser().parse_args()\nprint('RAN', sys.version.split()[0], sys.prefix)\n"
)

pytestmark = pytest.mark.skipif(
    shutil.which("uv") is None or not sys.platform.startswith("linux"), reason="there is no uv, or this is not Linux"
)


def missing_version() -> str:
    """Return the full version of a Python below ~/.pyenv that is not on the usual PATH."""
    for path in sorted(Path(ROOT, "versions").glob("3.*"), key=lambda path: int(path.name.split(".")[1])):
        minor = path.name.rpartition(".")[0]
        if int(minor.split(".")[1]) >= 8 and shutil.which(f"python{minor}", path=USUAL) is None:
            return path.name
    pytest.skip("there is no other Python below ~/.pyenv")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """Serve a Python as uv's mirror; yield its version, its variables, and the paths that were requested."""
    version = missing_version()
    place = tmp_path_factory.mktemp("mirror")
    name = f"cpython-{version}-linux-{platform.machine()}-gnu"
    minor = version.rpartition(".")[0]

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        is_kept = not OMITTED & set(member.name.split("/")) and "/config-" not in member.name
        return member if is_kept and not member.name.endswith((".a", ".so.1.0")) else None

    with tarfile.open(place / "python.tar.gz", "w:gz", compresslevel=0) as archive:
        for inside in (f"bin/python{minor}", "bin/python3", f"lib/python{minor}"):
            archive.add(os.path.join(ROOT, "versions", version, inside), f"python/{inside}", filter=kept)
    major, number, patch = map(int, version.split("."))
    releases = "https://github.com/astral-sh/python-build-standalone/releases/download"
    download = {"name": "cpython", "arch": {"family": platform.machine(), "variant": None}, "os": "linux"}
    download |= {"libc": "gnu", "major": major, "minor": number, "patch": patch, "prerelease": "", "variant": None}
    download |= {"url": f"{releases}/python.tar.gz", "sha256": None, "build": "1"}
    (place / "downloads.json").write_text(json.dumps({name: download}))
    requested = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            requested.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=place))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        "UV_PYTHON_INSTALL_MIRROR": f"http://127.0.0.1:{server.server_port}",
        "UV_PYTHON_DOWNLOADS_JSON_URL": str(place / "downloads.json"),
    }
    yield version, variables, requested
    server.shutdown()
    server.server_close()


@pytest.fixture
def job(tmp_path):
    """A job on a machine with few Pythons."""
    job = LocalJob(tmp_path / "job")
    job.write("src/train.py", SHOW)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "uv").write_text(f'#!/bin/sh\nPYENV_ROOT="{ROOT}" exec "{shutil.which("uv")}" "$@"\n')
    (programs / "uv").chmod(0o755)
    job.cache = tmp_path / "cache"
    job.environment = {
        "PATH": os.pathsep.join([str(programs), USUAL]),
        "PYENV_ROOT": str(tmp_path / "nothing"),
        "XDG_DATA_HOME": str(tmp_path / "nothing"),
        "SMSPEC_CACHE_DIR": str(job.cache),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "UV_HTTP_RETRIES": "0",
    }
    return job


def needs(job: LocalJob, minor: str, more: str = "") -> None:
    job.spec(f'image: {{base: "python:{minor}-slim"{more}}}\nsource: src/\nentry_point: train.py\n')


def last(ended) -> str:
    return ended.stderr.splitlines()[-1]


def test_missing_python_is_fetched_once(job, mirror):
    """The job runs with it, `smspec check` finds it in the cache, and nothing else of the machine changes."""
    version, variables, requested = mirror
    minor = version.rpartition(".")[0]
    needs(job, minor)
    ended = job.run({**job.environment, **variables}, **{"fetch-python": None, "strict": None})
    assert ended.returncode == 0, ended.stderr
    assert f"RAN {version} {job.run_directory}" in job.log()
    assert f"fetching Python {minor} with uv into {job.cache / 'pythons'}\nfetching | Downloading" in ended.stderr
    assert "different from SageMaker" not in ended.stderr
    assert len(requested) == 1
    ended = checked_job(job, job.environment)
    assert (ended.returncode, f"proven: Python {version}" in ended.stderr) == (0, True), ended.stderr
    ended = checked_job(job, job.environment, "--fetch-python")
    assert (ended.returncode, "fetching" in ended.stderr) == (0, False), ended.stderr
    shutil.rmtree(job.cache / "pythons")
    ended = checked_job(job, {**job.environment, **variables}, "--fetch-python")
    assert (ended.returncode, f"proven: Python {version}" in ended.stderr) == (0, True), ended.stderr


def test_nearest_python_is_used_in_its_place(job):
    """It is not fetched without the option; with `--strict`, nothing runs."""
    needs(job, "3.99")
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    newest = max(n for n in range(8, 40) if shutil.which(f"python3.{n}", path=USUAL))
    assert f"RAN 3.{newest}." in job.log()
    assert f"different from SageMaker: the image has Python 3.99; running with 3.{newest}." in ended.stderr
    ended = job.run(job.environment, strict=None)
    sentence = (
        "`image.base` has Python 3.99, this machine does not; install it or pass `--python EXE` or `--fetch-python`"
    )
    assert (ended.returncode, last(ended)) == (3, f"smspec: {sentence}")


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"UV_PYTHON_INSTALL_MIRROR": "http://127.0.0.1:9"}, "uv cannot reach the server that has it"),
        ({"PATH": "/usr/bin:/bin"}, "`--fetch-python` requires uv on PATH"),
        ({"SMSPEC_CACHE_DIR": "/dev/null/cache"}, "failed to create directory `/dev/null/cache/pythons`"),
    ],
)
def test_python_that_cannot_be_fetched_exits_3(job, variables, reason):
    minor = missing_version().rpartition(".")[0]
    needs(job, minor)
    ended = job.run({**job.environment, **variables}, **{"fetch-python": None})
    assert ended.returncode == 3, ended.stderr
    assert last(ended).startswith(f"smspec: cannot fetch Python {minor}: {reason}"), ended.stderr
    assert last(ended).endswith("; install it, or pass `--python EXE`")
    assert "cause" not in ended.stderr


@pytest.mark.parametrize("file", ["none", "uv.toml", "pyproject.toml"])
def test_python_that_uv_does_not_have_exits_3(job, file):
    """Settings of uv in a repository, which could name any program as that Python, are not read."""
    needs(job, "3.99")
    archive = f"file://{job.directory}/python.tar.gz"
    planted = {"name": "cpython", "arch": {"family": platform.machine(), "variant": None}, "os": "linux", "libc": "gnu"}
    planted |= {"major": 3, "minor": 99, "patch": 0, "prerelease": "", "variant": None, "url": archive, "sha256": None}
    name = f"cpython-3.99.0-linux-{platform.machine()}-gnu"
    job.write("downloads.json", json.dumps({name: {**planted, "build": "1"}}))
    table = "[tool.uv]\n" if file == "pyproject.toml" else ""
    job.write(file, f'{table}python-downloads-json-url = "{job.directory}/downloads.json"\n')
    ended = checked_job(job, job.environment, "--fetch-python")
    assert ended.returncode == 3, ended.stderr
    assert last(ended).startswith("smspec: cannot fetch Python 3.99: uv has no build of it for this machine; install")


def test_fetched_and_named_python_are_refused(job):
    needs(job, "3.12")
    ended = job.run(job.environment, **{"fetch-python": None, "python": sys.executable})
    assert (ended.returncode, "not allowed with argument" in ended.stderr) == (2, True), ended.stderr


def test_uv_never_starts_in_the_project(job, tmp_path):
    """As a shim of pyenv, it would be the program that `.python-version` selects there."""
    needs(job, f"{sys.version_info.major}.{sys.version_info.minor}", ", python_packages: [no-such-package==1.0]")
    (tmp_path / "bin/uv").write_text(f'#!/bin/sh\necho "$PWD" >> {tmp_path}/started\necho uv 99.0.0\nexit 1\n')
    ended = checked_job(job, {**job.environment, "PIP_NO_INDEX": "1"})
    assert (ended.returncode, {*(tmp_path / "started").read_text().split()}) == (3, {os.sep}), ended.stderr
