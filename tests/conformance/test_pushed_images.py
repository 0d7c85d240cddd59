"""`smspec build --image --push` on a real engine and a real registry, with moto in the place of AWS."""

from __future__ import annotations

import base64
import json
import signal
import threading
import time
from pathlib import Path

import pytest

from support.docker_registry import BASE, HOST, PASSWORD, ecr_site
from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")

SOURCE = "org.opencontainers.image.source"
REVISION = "org.opencontainers.image.revision"


@pytest.fixture(scope="module")
def site(engine, tmp_path_factory):
    with ecr_site(engine, tmp_path_factory.mktemp("site")) as site:
        yield site


class Watch:
    """Looks for the password in the arguments of all processes, until it is closed."""

    def __init__(self) -> None:
        self.looks = 0
        self.found: set[bytes] = set()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        wanted = (PASSWORD.encode(), base64.b64encode(f"AWS:{PASSWORD}".encode()))
        while not self._is_over.wait(0.05):
            self.looks += 1
            for name in ("cmdline", "environ"):
                for path in Path("/proc").glob(f"[0-9]*/{name}"):
                    try:
                        content = path.read_bytes()
                    except OSError:
                        continue
                    self.found |= {content for word in wanted if word in content}


def write_spec(directory, **replaced):
    text = BUILT.replace("python:3.12-slim-bookworm", BASE)
    for old, new in replaced.items():
        text = text.replace(old, new)
    write_job(directory, text)


def test_image_is_pushed_once_with_labels_of_its_source(engine, site, tmp_path):
    directory = repository(tmp_path / "jobs")
    write_spec(directory)
    (directory / ".gitignore").write_text("build/\n")
    (directory / "smspec.toml").write_text("[registry]\nkeep_images = 50\n")
    git(directory, "remote", "add", "origin", "https://ci:t0ken@git.example.com/team/jobs.git?x=1")
    revision = commit(directory)
    before = {path: path.read_bytes() for path in site.home.rglob("*") if path.is_file()}

    watch = Watch()
    try:
        done = site.smspec("build", "--push", "--format", "json", cwd=directory)
    finally:
        watch.close()
    assert done.status == 0, done.err
    report = json.loads(done.out)
    assert report["image_status"] == "pushed"
    assert "engine: docker\n" in done.err
    assert watch.looks > 10
    assert watch.found == set()
    assert PASSWORD not in done.out + done.err
    written = [path for path in site.root.rglob("*") if path.is_file() and path.name != "passwords"]
    written = [path for path in written if "blobs" not in path.parts and "job" not in path.parts]
    assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]
    logins = {path: text for path, text in before.items() if path.name == "config.json"}
    assert {path: path.read_bytes() for path in site.home.rglob("config.json")} == logins

    (created,) = site.repositories()
    assert created["repositoryName"] == "small"
    assert created["imageTagMutability"] == "IMMUTABLE"
    assert created["imageScanningConfiguration"] == {"scanOnPush": True}
    assert site.lifecycle("small")["rules"][0]["selection"]["countNumber"] == 50

    labels = engine.config(report["image"])["Labels"]
    assert (labels[SOURCE], labels[REVISION]) == ("https://git.example.com/team/jobs.git", revision)
    assert not [path for path in (directory / "build").rglob("*") if path.is_file() and REVISION in path.read_text()]

    # Another machine, which has no image: the content is the same, so it is pulled and nothing is built.
    engine.docker("rmi", "--force", report["image"])
    again = site.smspec("build", "--push", cwd=directory, DOCKER_HOST="unix:///not-there")
    assert again.out.splitlines()[1] == f"{report['image']}@{report['image_digest']}", again.err
    assert "is already in its registry" in again.err


def test_image_is_built_once_for_every_way_to_use_it(engine, site, tmp_path):
    write_spec(tmp_path / "a", **{"name: small": "name: a"})
    write_spec(tmp_path / "b", **{"name: small": "name: b"})
    done = site.smspec("build", "--image", ".", cwd=tmp_path)
    assert done.status == 0, done.err
    directories, images = done.out.splitlines()[::2], done.out.splitlines()[1::2]
    assert directories == ["build/a", "build/b"]
    assert [image.rpartition(":")[0] for image in images] == [f"{HOST}/a", f"{HOST}/b"]
    assert REVISION not in engine.config(images[0])["Labels"]
    again = site.smspec("build", "--image", "-q", "--format", "json", ".", cwd=tmp_path)
    assert (again.status, again.err) == (0, "")
    assert {report["image_status"] for report in json.loads(again.out)} == {"present"}


def test_failed_build_is_shown_even_when_quiet(engine, site, tmp_path):
    write_spec(tmp_path, **{'bookworm"}': 'bookworm", run: [ls /not-there]}'})
    done = site.smspec("build", "--image", "-q", cwd=tmp_path)
    assert done.status == 1
    assert "/not-there" in done.err
    assert done.err.splitlines()[-1].endswith("`docker build` failed: the lines above are its last")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_build_leaves_nothing(engine, site, tmp_path, number):
    mark = f"time.sleep(5{number:02})"
    write_spec(tmp_path, **{'bookworm"}': f'bookworm", run: ["python3 -S -c \'import time; {mark}\'"]}}'})
    process = site.start("build", "--push", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not running(mark) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 128 + number
    while running(mark):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    tag = json.loads((tmp_path / "build/small/create-training-job.json").read_text())["AlgorithmSpecification"]
    assert engine.docker("image", "inspect", tag["TrainingImage"], check=False).returncode != 0
    assert not list(site.root.glob("smspec-tmp-*"))


def running(words):
    """Return whether the arguments of a process on this machine contain words."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False
