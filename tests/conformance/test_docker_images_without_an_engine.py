"""An image of `smspec build --engine none` in a real registry and a real engine, next to the one that docker builds."""

import base64
import hashlib
import json
import re
import stat
import subprocess
import sys
import tarfile
import time

import pytest

from support.docker_registry import HOST, PASSWORD, ecr_site
from support.locked_packages import lock_packages
from support.sampled_cases import only_with_all_engines
from support.servers.package_index import wheel
from support.small_job import BUILT, write_job

pytest_plugins = ["support.docker_engine"]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("docker")]

NAME = f"{HOST}/team/python:3.11"
DOCKERFILE = """\
FROM {base}
ENV PYTHON_VERSION=3.11.2 PYTHON_SHA256=0 PATH=/usr/local/bin:/usr/bin:/bin
LABEL vendor=tests
CMD ["python3"]
"""
OWN = ("opt/smspec/", "opt/ml/code/")


def pushed_digest(engine, login_dir, name=NAME):
    """Push the base; the engine reads the names of hosts again after some seconds."""
    auth = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
    (login_dir / "config.json").write_text(json.dumps({"auths": {HOST: {"auth": auth}}}))
    deadline = time.monotonic() + 30
    while (done := engine.docker("push", name, check=False)).returncode != 0:
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.5)
    return re.search(r"digest: (sha256:[0-9a-f]{64})", done.stdout)[1]


def files(engine, image, directory, own=OWN):
    """Return {path: (mode, owner, time, content)} of what smspec puts in an image, without compiled files."""
    made = engine.docker("create", image).stdout.strip()
    engine.docker("export", "--output", directory / "image.tar", made)
    engine.docker("rm", made)
    with tarfile.open(directory / "image.tar") as archive:
        return {
            entry.name: (
                stat.filemode(entry.mode),
                entry.uid,
                entry.gid,
                int(entry.mtime),
                archive.extractfile(entry).read(),
            )
            for entry in archive
            if entry.isfile() and entry.name.startswith(own) and "__pycache__" not in entry.name
        }


@only_with_all_engines
def test_image_runs_and_is_that_of_docker(engine, tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "base").mkdir()
    (tmp_path / "base/Dockerfile").write_text(DOCKERFILE.format(base=engine.base))
    # The engine keeps a mount of this directory, which outlives the test.
    with ecr_site(engine, tmp_path_factory.mktemp("site")) as site:
        engine.build(tmp_path / "base", NAME)
        digest = pushed_digest(engine, tmp_path)
        job = tmp_path / "job"
        image = f'base: "{NAME}@{digest}", env: {{MODE: fast}}, env_prepend: {{PATH: /opt/tools}}, labels: {{team: a}}'
        write_job(job, BUILT.replace('base: "python:3.12-slim-bookworm"', image), src__tool="#!/bin/sh\n")
        (job / "src/tool").chmod(0o755)

        done = site.smspec("build", "--push", "--engine", "none", "--format", "json", cwd=job)
        assert done.status == 0, done.err
        report = json.loads(done.out)
        uri = report["image"]
        assert site.smspec("build", "--image", "--engine", "none", cwd=job).status == 0

        engine.build(job / report["directory"], "of-docker")
        engine.docker("pull", f"{uri}@{report['image_digest']}")
        pulled = json.loads(engine.docker("image", "inspect", f"{uri}@{report['image_digest']}").stdout)[0]
        assert "Loaded image" in engine.docker("load", "--input", job / f"{report['directory']}.image.tar").stdout
        loaded = json.loads(engine.docker("image", "inspect", uri).stdout)[0]
        assert loaded["Id"] == pulled["Id"]
        built = json.loads(engine.docker("image", "inspect", "of-docker").stdout)[0]
        assert {k: v for k, v in loaded["Config"].items() if v} == {k: v for k, v in built["Config"].items() if v}
        assert files(engine, uri, tmp_path) == files(engine, "of-docker", tmp_path)

        started = site.smspec("run", "--engine", "docker", cwd=job)
        assert started.status == 0, started.err
        assert "trained" in started.out + started.err
        assert "building the image" not in started.err


PYTHON = f"{HOST}/library/python:3.11-slim-bookworm"
SITE = "usr/local/lib/python3.11/dist-packages/"
SCRIPT = """\
import os, subprocess
import numpy
print("sum", numpy.arange(5).sum(), subprocess.run(["greet"], capture_output=True, text=True).stdout.strip())
open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w").write("weights")
"""


def wheels(directory):
    """Put a wheel with a command, and a compiled one from the package index, into a directory."""
    directory.mkdir()
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(directory)]
    words += ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64"]
    done = subprocess.run([sys.executable, "-m", "pip", *words, "numpy"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("no numpy: the package index cannot be reached")
    entry = "greeting-1.0.dist-info/entry_points.txt"
    contents = {"greeting.py": "def main(): print('hello')\n", entry: "[console_scripts]\ngreet = greeting:main\n"}
    (directory / "greeting-1.0-py3-none-any.whl").write_bytes(wheel("greeting", "1.0", contents))
    return sorted(directory.iterdir())


@only_with_all_engines
def test_wheels_run_and_are_those_of_pip(engine, tmp_path, tmp_path_factory, monkeypatch):
    found = wheels(tmp_path / "wheels")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "base").mkdir()
    (tmp_path / "base/Dockerfile").write_text(DOCKERFILE.format(base=engine.base))
    with ecr_site(engine, tmp_path_factory.mktemp("site")) as site:
        engine.build(tmp_path / "base", PYTHON)
        job = tmp_path / "job"
        image = f'base: "{PYTHON}@{pushed_digest(engine, tmp_path, PYTHON)}", python_packages: [numpy, greeting]'
        spec = write_job(job, BUILT.replace('base: "python:3.12-slim-bookworm"', image))
        (job / "src/train.py").write_text(SCRIPT)
        versions = {each.name.split("-")[0]: each.name.split("-")[1] for each in found}
        content = "".join(
            f"{each.name.split('-')[0]}=={each.name.split('-')[1]}"
            f" --hash=sha256:{hashlib.sha256(each.read_bytes()).hexdigest()}\n"
            for each in found
        )
        monkeypatch.chdir(job)
        lock_packages(spec, versions, content=content.encode(), python="3.11")
        machine = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
        machine["SMSPEC_CACHE_DIR"] = str(tmp_path / "cache")
        done = site.smspec("build", "--push", "--engine", "none", "--format", "json", cwd=job, **machine)
        assert done.status == 0, done.err
        report = json.loads(done.out)
        engine.docker("pull", f"{report['image']}@{report['image_digest']}")
        engine.docker("tag", f"{report['image']}@{report['image_digest']}", report["image"])

        (tmp_path / "wheels/Dockerfile").write_text(
            f"FROM {PYTHON}\nCOPY *.whl /tmp/\n"
            "RUN python3 -m pip install --break-system-packages --no-index --no-deps --no-compile /tmp/*.whl\n"
        )
        engine.build(tmp_path / "wheels", "of-pip")
        ours, theirs = (files(engine, each, tmp_path, ("usr/local/",)) for each in (report["image"], "of-pip"))
        apart = re.compile(rf"{SITE}[^/]+\.dist-info/(INSTALLER|RECORD|REQUESTED|direct_url\.json)")
        ours, theirs = (
            {
                path: (mode, user, group, text)
                for path, (mode, user, group, _, text) in each.items()
                if not apart.match(path)
            }
            for each in (ours, theirs)
        )
        assert len(ours) > 500 and ours == theirs

        started = site.smspec("run", "--engine", "docker", cwd=job)
        assert started.status == 0, started.err
        assert "sum 10 hello" in started.out + started.err
        assert "building the image" not in started.err
