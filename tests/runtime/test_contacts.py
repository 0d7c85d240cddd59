"""Hosts that a script contacts by name are awaited."""

import sys

import pytest

from support.runtime.container import RUNTIME

sys.path.insert(0, str(RUNTIME))

from smspec_runtime.contacts import contacted_hosts
from smspec_runtime.launchers import LAUNCHERS

HOSTS = ["algo-1", "algo-2", "algo-3"]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_launchers_contact_their_hosts(tmp_path, launcher):
    """torchrun meets at the leader, parameter servers everywhere; mpirun's team waits by itself."""
    expected = {"torchrun": HOSTS[:1], "mpi": [], "smdataparallel": []}.get(launcher, HOSTS)
    assert contacted_hosts(launcher, HOSTS, str(tmp_path)) == expected
    assert contacted_hosts(launcher, HOSTS[:1], str(tmp_path)) == []


@pytest.mark.parametrize(
    "line",
    [
        "address = socket.gethostbyname(hosts[0])",
        "socket.getaddrinfo(host, 80)",
        "socket.create_connection((hosts[0], 9000))",
        "reader, writer = await asyncio.open_connection(hosts[0], 9000)",
        "dist.init_process_group('gloo')",
        "leader=$(getent hosts algo-1)",
        "socket.gethostbyname_ex(host)",
    ],
)
@pytest.mark.parametrize("name", ["train.py", "deeper/net.py", "run.sh"])
def test_lookups_in_scripts_are_found(tmp_path, name, line):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"import socket\n{line}\n")
    assert contacted_hosts(None, HOSTS, str(tmp_path)) == HOSTS
    assert contacted_hosts(None, HOSTS[:1], str(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "hosts = json.loads(os.environ['SM_HOSTS'])",
        "for row in job.rows(100): pass",
        "import socket; print(socket.gethostname())",
        "sqlite3.connect('a.db')",
        "my_gethostbyname_table = {}",
    ],
)
def test_programs_without_a_contact_do_not_wait(tmp_path, text):
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "notes.md").write_text("gethostbyname")
    assert contacted_hosts(None, HOSTS, str(tmp_path)) == []


def test_unreadable_files_are_skipped(tmp_path):
    (tmp_path / "train.py").symlink_to("nowhere")
    (tmp_path / "dir.py").mkdir()
    assert contacted_hosts(None, HOSTS, str(tmp_path)) == []
    assert contacted_hosts(None, HOSTS, str(tmp_path / "missing")) == []
