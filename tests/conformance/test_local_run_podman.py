"""`smspec run --engine podman` for root and for a user without rights: what a run leaves, and whose its files are."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO

import pytest

from support.debian_archive import python_archive
from support.local.local_jobs import DEADLINE, LocalJob, script
from support.local.ordinary_user import AS_USER, USER, OrdinaryJob, readable_python
from support.podman_engine import Podman

pytest_plugins = ["support.podman_engine"]
pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("podman")]

OTHER = 7
"""The user whom the script gives its files to: 7 of this machine for root, one of the author's range without root."""
BASE = "smspec-test-python:bookworm"
SCRIPT = """
    import json, os, shutil, sys, time
    host, base = os.environ["SM_CURRENT_HOST"], "/opt/ml"
    mounts = {line.split()[1]: line.split()[3].split(",")[0] for line in open("/proc/mounts")}
    print("MOUNTS", [mounts.get(f"{base}/{name}") for name in ("input", "model", "output", "checkpoints")])
    for epoch in range(2):
        with open(f"{base}/input/data/train_{epoch}", "rb") as stream:
            print("READ", epoch, len(stream.read()), flush=True)
    for name in ("model", "output/data", "checkpoints"):
        os.makedirs(f"{base}/{name}/deep/er")
        with open(f"{base}/{name}/deep/er/{host}", "w") as file:
            file.write("trained")
        shutil.copy("/bin/true", f"{base}/{name}/deep/program")
        os.chown(f"{base}/{name}/deep/program", 7, 7)
        os.chmod(f"{base}/{name}/deep/program", 0o6755)
        for path in (f"{base}/{name}/deep/er/{host}", f"{base}/{name}/deep/er", f"{base}/{name}/deep"):
            os.chown(path, 7, 7)
            os.chmod(path, 0o700)
        try:
            os.mknod(f"{base}/{name}/device", 0o20666, os.makedev(1, 3))
        except PermissionError:
            pass  # not without root
    os.chdir("/opt/ml/output")
    for _ in range(20):
        os.mkdir("d" * 240)
        os.chdir("d" * 240)
    shutil.copy("/bin/true", "program")
    os.chmod("program", 0o6755)
    print("ready", flush=True)
    while json.loads(os.environ["SM_HPS"])["ending"] == "wait":
        time.sleep(0.1)
"""
MORE = f"""
image: {{{{base: "{BASE}"}}}}
channels: {{{{train: {{{{s3: "s3://data/train/", local: data/}}}}}}}}
input_mode: Pipe
spot: {{{{max_wait: 2d}}}}
checkpoints: s3://models/checkpoints/
hyperparameters: {{{{ending: {{ending}}}}}}
"""


class RootlessJob(OrdinaryJob):
    """A job of a user without rights, where podman is."""

    entered: tuple[str, ...] = ()

    def words(self, **request: object) -> list[str]:
        return [*self.entered, "env", "-C", str(self.directory), *super().words(**request)]


class User:
    """A user of podman, with a base image."""

    def __init__(self, podman: Podman, *, is_root: bool) -> None:
        self.podman = podman
        self.is_root = is_root
        self._words = [*podman.entered, *(() if is_root else AS_USER), "/usr/bin/podman"]
        own = {} if is_root else {"HOME": str(podman.root / "home"), "XDG_RUNTIME_DIR": f"/run/user/{USER}"}
        self.environment = {**podman.environment(), **own}
        if not is_root:
            self.environment["PATH"] = os.pathsep.join(
                [os.path.dirname(readable_python()), "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
            )
        with open(python_archive(), "rb") as archive:
            self.output("import", "-", BASE, given=archive)

    def job(self, directory: Path) -> LocalJob:
        if self.is_root:
            return LocalJob(directory, engine="podman")
        job = RootlessJob(directory, engine="podman")
        job.entered = tuple(self.podman.entered)
        return job

    def output(self, *words: str, given: IO[bytes] | int = subprocess.DEVNULL) -> list[str]:
        """Run podman to its end, and return the words that it prints."""
        done = subprocess.run(
            [*self._words, *words],
            env=self.environment,
            stdin=given,
            cwd="/",
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().split()

    def left(self) -> list[str]:
        """Return the containers and networks of runs."""
        label = ("--quiet", "--filter", "label=smspec.run")
        return [*self.output("ps", "--all", *label), *self.output("network", "ls", *label)]


@pytest.fixture(scope="module", params=["rootless", "root"])
def user(podman, request):
    if request.param == "root" and not os.environ.get("SMSPEC_ALL_ENGINES"):
        pytest.skip("the sample for podman is that of an ordinary user: set SMSPEC_ALL_ENGINES=1")
    return User(podman, is_root=request.param == "root")


@pytest.fixture
def job(user):
    """A job in a directory that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="smspec-podman-job-") as directory:
        os.chmod(directory, 0o755)
        job = user.job(Path(directory, "job"))
        job.write("data/a.csv", "1,2")
        yield job


def described(job, ending):
    script(job, SCRIPT, MORE.format(ending=ending))


def assert_files_are_the_authors(job, user):
    """Root may read and remove files of any owner, so they keep theirs."""
    owners = subprocess.check_output(["find", str(job.run_directory), "-printf", "%U\n"], text=True).split()
    assert set(owners) == ({"0", str(OTHER)} if user.is_root else {str(USER)})


def assert_no_rights_for_others(job):
    """Programs of the job lose their set-user-ID bits, also below a path that is longer than the system takes."""
    rights = ["(", "-type", "f", "-perm", "/6000", "-o", "-type", "c", "-o", "-type", "b", ")", "-printf", "%f %m\n"]
    assert subprocess.check_output(["find", str(job.run_directory), *rights], text=True) == ""
    hosts = job.run_directory / "hosts"
    assert len(subprocess.check_output(["find", str(hosts), "-name", "program", "-perm", "755", "-printf", "."])) == 8
    assert hosts.stat().st_mode == job.run_directory.stat().st_mode


def test_files_of_containers_are_the_authors(job, user):
    described(job, "complete")
    ended = job.run(user.environment, hosts=2)
    assert ended.returncode == 0, ended.stderr
    assert "MOUNTS ['ro', 'rw', 'rw', 'rw']\nREAD 0 3\nREAD 1 3\n" in job.log()
    archive = job.archive()
    del archive["deep/program"]
    assert archive == {"deep/er/algo-1": b"trained", "deep/er/algo-2": b"trained"}
    assert user.left() == []
    assert_files_are_the_authors(job, user)
    assert_no_rights_for_others(job)


def test_container_that_podman_cannot_start_is_exit_status_3(job, user):
    """Its words are in the message, and nothing of the run is left: the job has not failed."""
    described(job, "complete")
    assert job.run(user.environment).returncode == 0  # the image is there now
    settings = f"{job.directory}/containers.conf"
    own = '[containers]\ndefault_ulimits = ["nofile=999999999:999999999"]\n[engine]\n'
    with open(settings, "w", encoding="utf-8") as file:
        file.write(f'{own}cgroup_manager = "cgroupfs"\nevents_logger = "file"\n')
    ended = job.run({**user.environment, "CONTAINERS_CONF": settings})
    assert ended.returncode == 3, ended.stderr
    assert "smspec: `podman start` failed: Error: " in ended.stderr
    assert "rlimit" in ended.stderr
    assert not job.run_directory.exists()
    assert user.left() == []


def test_stopped_run_leaves_nothing(job, user):
    described(job, "wait")
    process = job.start(user.environment)
    job.wait_for_log("ready")
    assert (job.run_directory / "hosts").stat().st_mode & 0o777 == 0o700
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert (process.returncode, job.summary()["status"]) == (130, "Stopped")
    assert user.left() == []
    assert_files_are_the_authors(job, user)
    job.assert_nothing_left()


def test_next_run_removes_what_a_killed_run_left(job, user):
    described(job, "wait")
    process = job.start(user.environment)
    job.wait_for_log("ready")
    process.kill()
    process.communicate(timeout=DEADLINE)
    assert len(user.left()) == 2
    described(job, "complete")
    ended = job.run(user.environment)
    assert ended.returncode == 0, ended.stderr
    assert user.left() == []
    assert_files_are_the_authors(job, user)
