"""What a process under `smspec check` can still reach, tried on the system that runs the tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from smspec.proof.sandbox import Sandbox

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines processes")
ATTEMPTS = """
import ctypes, json, multiprocessing, os, resource, signal, socket, sys
outside, inside, victim, place, abstract, port = json.loads(os.environ["PLACES"])
file = os.path.join(outside, "file")
kernel = ctypes.CDLL(None, use_errno=True)

def connect(kind, address):
    with socket.socket(kind) as client:
        client.settimeout(5)
        client.connect(address)

def call(*words):
    if kernel.syscall(*words) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def remount():
    kernel.unshare(0x10000000 | 0x00020000)
    if kernel.mount(None, b"/", None, ctypes.c_ulong(32 | 4096), None) != 0:
        raise OSError(ctypes.get_errno(), "refused")
    os.chmod(file, 0o777)

ATTEMPTS = {
    "write": lambda: open(file, "r+"),
    "truncate": lambda: os.truncate(file, 1),
    "remove": lambda: os.remove(file),
    "move": lambda: os.rename(file, os.path.join(inside, "moved")),
    "link": lambda: os.link(file, os.path.join(inside, "linked")),
    "create": lambda: os.mkfifo(os.path.join(outside, "fifo")),
    "mode": lambda: os.chmod(file, 0o777),
    "owner": lambda: os.chown(file, os.getuid(), os.getgid()),
    "time": lambda: os.utime(file, (1, 1)),
    "attribute": lambda: os.setxattr(file, "user.x", b"1"),
    "socket": lambda: connect(socket.AF_UNIX, place),
    "abstract socket": lambda: connect(socket.AF_UNIX, "\\0" + abstract),
    "network": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "signal": lambda: os.kill(victim, signal.SIGTERM),
    "process": lambda: os.sched_setaffinity(victim, os.sched_getaffinity(0)),
    "limit": lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE),
    "memory": lambda: open(f"/proc/{victim}/mem", "rb"),
    "environment": lambda: open(f"/proc/{victim}/environ", "rb").read(),
    "directory": lambda: os.listdir(f"/proc/{victim}/root"),
    "host name": lambda: socket.sethostname("changed"),
    "mounts": remount,
}
print(json.dumps([name for name, attempt in ATTEMPTS.items() if not refused(attempt)]))
"""
HEAD = """
def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False
"""
USES = """
import multiprocessing, os, signal, sys, tempfile
print(sorted(os.listdir("/proc/self/fd")), flush=True)
open(os.path.join(os.environ["HOME"], "file"), "w").close()
os.chmod(os.path.join(os.environ["HOME"], "file"), 0o600)
open(os.devnull, "w").write("x")
multiprocessing.Lock()
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
with tempfile.TemporaryDirectory() as place:
    os.symlink("a", os.path.join(place, "b"))
child = os.fork()
if not child:
    signal.pause()
os.kill(child, signal.SIGKILL)
os.wait()
assert os.path.isdir(f"/proc/{os.getpid()}") and os.getcwd().endswith("box")
open("relative", "w").close()
os.abort()
"""


@pytest.fixture
def around(tmp_path):
    """Yield a sandbox, and the places of this machine that it must not reach."""
    outside, box = tmp_path / "outside", tmp_path / "box"
    outside.mkdir()
    box.mkdir()
    (outside / "file").write_text("of the author")
    with (
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket() as port,
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as victim,
    ):
        named.bind(str(outside / "s"))
        abstract.bind(f"\0smspec-{os.getpid()}")
        port.bind(("127.0.0.1", 0))
        for server in (named, abstract, port):
            server.listen()
        places = [
            str(outside),
            str(box),
            victim.pid,
            str(outside / "s"),
            f"smspec-{os.getpid()}",
            port.getsockname()[1],
        ]
        yield Sandbox(directory=str(box), seconds=60), {"PLACES": json.dumps(places), "PATH": os.environ["PATH"]}
        assert victim.poll() is None
        victim.kill()
    assert (outside / "file").read_text() == "of the author"


def has_namespaces() -> bool:
    words = ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount", "--mount-proc", "true"]
    return shutil.which("unshare") is not None and subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


def kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])


def attempted(sandbox: Sandbox, variables: dict[str, str]) -> list[str]:
    """Return which attempts succeed."""
    ended = sandbox.run([sys.executable, "-c", HEAD + ATTEMPTS], variables, sandbox.directory)
    assert ended.status == 0, ended
    return json.loads(ended.last_line)


@pytest.mark.skipif(not has_namespaces() or kernel() < (5, 13), reason="this system has no namespaces or no Landlock")
def test_nothing_of_this_machine_is_reached(around):
    assert attempted(*around) == []


@pytest.mark.skipif(not has_namespaces(), reason="this system has no namespaces")
def test_script_can_use_what_is_its_own(around):
    """Files, children, and shared memory; it also ends by the signal that it gets."""
    sandbox, variables = around
    ended = sandbox.run([sys.executable, "-c", USES], variables, sandbox.directory)
    assert (ended.output.splitlines()[0], ended.status) == ("['0', '1', '2', '3']", 128 + signal.SIGABRT), ended
    assert Path(sandbox.directory, "relative").exists()


@pytest.mark.skipif(not has_namespaces() or kernel() < (6, 12), reason="Landlock of this system has no scopes")
@pytest.mark.parametrize(
    ("refused", "open_to_it"),
    [
        ("pid", {"limit"}),
        ("net", {"mode", "owner", "time", "attribute", "socket", "limit"}),
    ],
)
def test_older_ways_restrict_most_of_it(around, refused, open_to_it):
    """Where the system refuses namespaces, Landlock still protects files, and Python's functions connections."""
    sandbox, variables = around
    here = "import sys; from smspec.proof.sandbox import Sandbox; import test_confined_processes as t, json; "
    here += f"print(json.dumps(t.attempted(Sandbox(directory={sandbox.directory!r}, seconds=60), {variables!r})))"
    path = os.pathsep.join([os.path.dirname(__file__), *filter(None, sys.path)])
    limit = f'echo 0 > /proc/sys/user/max_{refused}_namespaces && exec "$0" -c "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", limit, sys.executable, here],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # The processor that a process of the same user runs on: Landlock does not know of it, and root becomes another user.
    open_to_users = {"process"} if os.geteuid() else set()
    assert set(json.loads(done.stdout)) <= open_to_it | open_to_users | {"network", "environment"}
