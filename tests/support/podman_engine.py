"""podman with a storage, networks, and users of its own for tests.

A test module that says ``pytest_plugins = ["support.podman_engine"]`` can ask for ``podman``. Where there cannot be
one, its tests are skipped with the reason. `.ci/run` installs what is needed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.debian_archive import debian_archive
from support.docker_engine import PATIENCE, PYTHON_IMAGE
from support.local.ordinary_user import USER

_NEEDED = ("podman", "unshare", "nsenter", "slirp4netns", "newuidmap", "iptables")
# Limits that root of a container may lack the right to set, and a user the right to exceed.
_CONFIGURATION = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
# Directories in which podman keeps its state are other ones for it, and so are the users that may have ranges of
# others. What is left is removed at the end of the tests, whatever ends them: it ends their pipe.
_APART = """\
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
mount --bind "$1/state" /var/lib
mount -t tmpfs tmpfs "$1/etc"
mkdir "$1/etc/upper" "$1/etc/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/upper,workdir=$1/etc/work" overlay /etc
echo "tester:x:$2:$2::$1/home:/bin/sh" >>/etc/passwd
echo "tester:x:$2:" >>/etc/group
for name in subuid subgid; do echo "tester:200000:65536" >"/etc/$name"; done
mkdir -p /etc/cni/net.d /run/lock
install -d -m 755 /run/user
install -d -o "$2" -g "$2" -m 700 "/run/user/$2"
mknod -m 666 "$1/etc/tun" c 10 200
mount --bind "$1/etc/tun" /dev/net/tun
ip link set lo up
echo ready
cat >/dev/null
set +e
end="/usr/bin/podman rm --all --force --time 0"
$end
chroot --userspec="$2:$2" / env HOME="$1/home" XDG_RUNTIME_DIR="/run/user/$2" $end
umount -R /dev/net/tun /etc /var/lib "$1/etc"
rm -rf "$1"
"""


class Podman:
    """An engine of containers for root, whose state is in a directory; nothing of it remains."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("state", "etc", "bin", "home"):
            (root / name).mkdir()
        os.chown(root / "home", USER, USER)
        root.chmod(0o755)
        (root / "containers.conf").write_text(_CONFIGURATION)
        (root / "apart.sh").write_text(_APART)
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", root / "apart.sh", root, str(USER)],
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        client = root / "bin" / "podman"
        client.write_text(f'#!/bin/sh\nexec {shlex.join(self.entered)} env -C "$PWD" /usr/bin/podman "$@"\n')
        client.chmod(0o755)

    @property
    def entered(self) -> list[str]:
        """Return the words that start a program where the engine is, in the root directory."""
        spaces = f"/proc/{self.process.pid}/ns"
        return ["nsenter", f"--net={spaces}/net", f"--mount={spaces}/mnt"]

    def environment(self) -> dict[str, str]:
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        own = {"CONTAINERS_CONF": str(self.root / "containers.conf"), "STORAGE_DRIVER": "overlay", "PATH": path}
        return {**os.environ, **own}

    def run(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the client to its end."""
        done = subprocess.run(
            [self.root / "bin/podman", *map(str, words)],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stderr}"
        return done

    def import_debian(self, image: str, *packages: str) -> None:
        """Make a base image with more packages; skip the test where Debian's archive cannot be had."""
        self.run("import", debian_archive(*packages), image)

    def make_python_image(self, base: str, context: Path, name: str) -> None:
        """Make an image like those of Python from Debian's, with the wheels of a directory; boto3 is not called."""
        (context / "Dockerfile").write_text(PYTHON_IMAGE.format(base=base))
        self.run("build", "--format=docker", "--network=none", "--tag", name, context)

    def wait_until_it_answers(self) -> str | None:
        """Return why the engine does not work, or None."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line != "ready\n":
            return line + self.process.stdout.read()
        done = self.run("info", check=False)
        return None if done.returncode == 0 else done.stderr

    def stop(self) -> None:
        """Remove everything."""
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="session")
def podman():
    """podman with a state of its own, or a skip with the reason."""
    with running_podman() as podman:
        yield podman


@contextmanager
def running_podman() -> Iterator[Podman]:
    """podman without an image, or a skip with the reason."""
    reason = _hindrance()
    if reason:
        pytest.skip(f"no podman: {reason}")
    podman = Podman(Path(tempfile.mkdtemp(prefix="smspec-podman-")))
    try:
        complaint = podman.wait_until_it_answers()
        if complaint is not None:
            pytest.skip(f"no podman: {complaint.strip()}")
        yield podman
    finally:
        podman.stop()


def _hindrance() -> str | None:
    if os.geteuid() != 0:
        return "one with a state of its own needs root"
    return next((f"{program} is not installed" for program in _NEEDED if not shutil.which(program)), None)
