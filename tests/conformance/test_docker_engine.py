"""The private Docker engine of the tests: independent of the firewall, and removed completely."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.sampled_cases import only_with_all_engines

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

TESTS = Path(__file__).parents[1]

# Two containers, one of which fetches a page from the other.
FETCH = """
    server = ["run", "--detach", "--network=hosts", "--ip=10.213.7.2", "base", "/bin/busybox", "sh", "-c", sys.argv[2]]
    client = ["run", "--rm", "--network=hosts", "base", "/bin/busybox", "sh", "-c", sys.argv[3]]
    engine.docker("import", sys.argv[1], "base")
    engine.docker("network", "create", "--driver=bridge", "--internal", "--subnet=10.213.7.0/24", "hosts")
    engine.docker(*server)
    print(engine.docker(*client).stdout, flush=True)
"""
SERVER = "echo here > /tmp/page; exec /bin/busybox httpd -f -p 80 -h /tmp"
CLIENT = """
attempt=0
until printf 'GET /page HTTP/1.0\\r\\n\\r\\n' | /bin/busybox nc -w 5 10.213.7.2 80 | /bin/busybox grep here
do attempt=$((attempt + 1)); [ $attempt -lt 50 ] || exit 1; /bin/busybox sleep 0.1
done
"""
WAIT = """
    print(engine.host, flush=True)
    sys.stdin.read()
"""


def program(body):
    """Return the command that runs a program with a separate engine."""
    head = f"import sys; sys.path.insert(0, {str(TESTS)!r}); from support.docker_engine import running_engine\n"
    return [sys.executable, "-c", f"{head}with running_engine() as engine:{body}"]


@only_with_all_engines
def test_containers_connect_despite_forward_drop(engine):
    """A machine with another Docker engine: its FORWARD policy is DROP. Here a network namespace is that machine."""
    machine = ["unshare", "--net", "sh", "-c", 'iptables -P FORWARD DROP && iptables -S FORWARD >&2 && exec "$@"', "sh"]
    words = [*machine, *program(FETCH), engine.busybox_archive(), SERVER, CLIENT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert "-P FORWARD DROP" in done.stderr, done.stderr
    assert done.stdout == "here\n\n", done.stderr


@only_with_all_engines
def test_parallel_engines_share_no_network(engine):
    """The same subnet twice, and no bridge of either on the machine."""
    before = socket.if_nameindex()
    words = [*program(FETCH), engine.busybox_archive(), SERVER, CLIENT]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in both] == ["here\n\n"] * 2
    assert socket.if_nameindex() == before


def test_killed_tests_leave_no_engine(engine):
    process = subprocess.Popen(program(WAIT), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    directory = Path(process.stdout.readline().strip().partition("//")[2]).parent
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while engine_processes(directory):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert str(directory) not in Path("/proc/mounts").read_text()
    subprocess.run(program("\n    pass"), check=True, timeout=60)
    assert not directory.exists()


def engine_processes(directory):
    """Return the processes whose command line names a directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(directory).encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found
