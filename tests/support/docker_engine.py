"""A private Docker engine for tests, and a base image from the Debian archive.

A test module that says ``pytest_plugins = ["support.docker_engine"]`` can ask for ``engine``. Where there cannot be
one, its tests are skipped with the reason. `.ci/run` installs what is needed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.debian_archive import archive, debian_archive
from support.sampled_cases import HAS_ENGINES

of_runs = pytest.mark.xdist_group("docker runs" if HAS_ENGINES else "docker")
"""Where all tests of engines run, local runs have one beside that of the others; each unpacks a base of 250 MB."""

BASE = "smspec-test-base:bookworm"
PATIENCE = 120

_NEEDED = ("dockerd", "docker", "setpriv", "unshare")
# Networks, mounts, and processes of its own: the machine's firewall does not matter (another Docker engine sets its
# FORWARD policy to DROP), engines side by side share no bridge, and all of it ends with the tests, even by SIGKILL.
_APART = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]


PYTHON_IMAGE = """\
FROM {base}
COPY . /opt/wheels/
RUN ln -s /usr/bin/python3 /usr/local/bin/python3 && touch /usr/lib/python3/dist-packages/boto3.py
ENV LANG=C.UTF-8
"""


class Engine:
    """An engine with a separate socket; no process of it remains. ``base``: an image with Python."""

    base = BASE

    def __init__(self, root: Path, client: str, words: Sequence[str] = ()) -> None:
        """``words``: more options of `dockerd`."""
        self.client = client
        self.host = f"unix://{root}/socket"
        self._log = root / "log"
        options = {"data-root": root / "data", "exec-root": root / "exec", "pidfile": root / "pid", "host": self.host}
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                [
                    *_APART,
                    "dockerd",
                    *(f"--{name}={value}" for name, value in options.items()),
                    *("--iptables=false", "--ip6tables=false", *words),
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C ends the tests, and the fixture ends the engine
            )

    def wait_until_it_answers(self) -> str | None:
        """Return why the engine does not work, or None."""
        deadline = time.monotonic() + 60
        while self.docker("version", check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                return self._log.read_text(errors="replace").strip().rpartition("\n")[2]
            time.sleep(0.1)
        return None

    def stop(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, number)  # unshare itself passes no SIGTERM on
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                continue

    def environment(self) -> dict[str, str]:
        return {**os.environ, "DOCKER_HOST": self.host, "DOCKER_BUILDKIT": "1"}

    def docker(self, *words: object, check: bool = True, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Run the client to its end."""
        done = subprocess.run(
            [self.client, *map(str, words)],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stderr}"
        return done

    def build(self, tree: object, tag: str, *options: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Build a tree with BuildKit, without a network."""
        return self.docker("build", "--progress=plain", "--network=none", *options, "--tag", tag, tree, check=check)

    def import_debian(self, image: str, *packages: str) -> None:
        """Make a base image with more packages, once; skip the test where Debian's archive cannot be had."""
        if self.docker("image", "inspect", image, check=False).returncode != 0:
            self.docker("import", debian_archive(*packages), image)

    def make_python_image(self, base: str, context: Path, name: str) -> None:
        """Make an image like those of Python from Debian's, with the wheels of a directory; boto3 is not called."""
        (context / "Dockerfile").write_text(PYTHON_IMAGE.format(base=base))
        self.build(context, name)

    def busybox_archive(self) -> Path:
        """Return the smallest image that has a shell, a web server, and a client: 2 MB."""
        return archive("extract", ("busybox-static",))

    def config(self, image: str) -> dict:
        """Return the configuration of an image."""
        return json.loads(self.docker("image", "inspect", image).stdout)[0]["Config"]

    def output(self, image: str, *words: object) -> str:
        """Return what words print when they are run in an image, in the place of its entrypoint."""
        first, *rest = words
        return self.docker("run", "--rm", "--network=none", "--entrypoint", first, image, *rest).stdout


def built_steps(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the instructions that a build did not find in its cache."""
    steps = {match[1]: match[2] for match in re.finditer(r"(?m)^#(\d+) \[.*?\] (.*)$", done.stderr)}
    cached = {steps[number] for number in re.findall(r"(?m)^#(\d+) CACHED$", done.stderr)}
    return {step for step in steps.values() if step.startswith(("RUN", "COPY"))} - cached


@pytest.fixture(scope="session")
def engine():
    """A private engine with the base image, or a skip with the reason."""
    with engine_with_base() as engine:
        yield engine


@contextmanager
def engine_with_base() -> Iterator[Engine]:
    """A private engine with the base image, or a skip with the reason."""
    reason = _hindrance()
    if reason:
        pytest.skip(f"no Docker engine: {reason}")
    with running_engine() as engine:
        engine.import_debian(BASE)
        yield engine


@contextmanager
def running_engine(*words: str) -> Iterator[Engine]:
    """An engine without an image, or a skip with the reason."""
    with _directory() as root:
        engine = Engine(root, "/usr/bin/docker" if os.path.exists("/usr/bin/docker") else "docker", words)
        try:
            complaint = engine.wait_until_it_answers()
            if complaint is not None:
                pytest.skip(f"no Docker engine: dockerd does not start: {complaint}")
            yield engine
        finally:
            engine.stop()


@contextmanager
def _directory() -> Iterator[Path]:
    """A new directory, locked as long as it is in use. Those of tests that were killed are removed."""
    temporary = Path(tempfile.gettempdir())
    for lock in temporary.glob("smspec-docker-*/lock"):
        with open(lock) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            shutil.rmtree(lock.parent, ignore_errors=True)
    root = Path(tempfile.mkdtemp(prefix="smspec-docker-"))
    try:
        with open(root / "unlocked", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            (root / "unlocked").rename(root / "lock")
            yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _hindrance() -> str | None:
    if os.geteuid() != 0:
        return "starting one needs root"
    return next((f"{program} is not installed" for program in _NEEDED if not shutil.which(program)), None)
