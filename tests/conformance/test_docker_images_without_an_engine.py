"""An image of `smspec build --engine none` in a real registry and a real engine, next to the one that docker builds."""

import base64
import json
import re
import stat
import tarfile
import time

import pytest

from support.docker_registry import HOST, PASSWORD, ecr_site
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


def pushed_digest(engine, login_dir):
    """Push the base; the engine reads the names of hosts again after some seconds."""
    auth = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
    (login_dir / "config.json").write_text(json.dumps({"auths": {HOST: {"auth": auth}}}))
    deadline = time.monotonic() + 30
    while (done := engine.docker("push", NAME, check=False)).returncode != 0:
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.5)
    return re.search(r"digest: (sha256:[0-9a-f]{64})", done.stdout)[1]


def files(engine, image, directory):
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
            if entry.isfile() and entry.name.startswith(OWN) and "__pycache__" not in entry.name
        }


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
