"""The wait for hosts is bounded and logged."""

import socket
import sys
import time

import pytest

from support.runtime.container import RUNTIME

sys.path.insert(0, str(RUNTIME))

from smspec_runtime.cluster import wait_for_hosts
from smspec_runtime.refusal import Refused


def test_unresolvable_host_ends_the_wait(capfd):
    """After the time for all of them, not for each; the log has counted it down."""
    started = time.monotonic()
    with pytest.raises(Refused, match=r"after 1 s there is no address for host no-such-host\.invalid \("):
        wait_for_hosts(["localhost", "no-such-host.invalid", "nor-this.invalid"], seconds=1.0)
    assert time.monotonic() - started >= 1.0
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("smspec: waiting for host no-such-host.invalid (") for line in lines)
    assert all(line.endswith(" s left") for line in lines)


def test_resolvable_hosts_are_not_awaited(capfd):
    wait_for_hosts(["localhost", "127.0.0.1", *(f"127.0.0.{number}" for number in range(2, 250))])
    assert capfd.readouterr().err == ""


def test_hosts_are_resolved_without_a_connection(monkeypatch):
    """Only names are resolved: launchers connect themselves."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    wait_for_hosts(["127.0.0.1"])
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


def test_resolved_name_is_not_looked_up_again(monkeypatch):
    """A host that ends early takes its name along, while another has not come yet."""
    rounds = iter([{"early": "10.0.0.2"}, {}, {"late": "10.0.0.3", "first": "10.0.0.1"}])
    seen = {}

    def gethostbyname(host):
        if host == "first":
            seen.clear()
            seen.update(next(rounds))
        if host not in seen:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return seen[host]

    monkeypatch.setattr(socket, "gethostbyname", gethostbyname)
    addresses = wait_for_hosts(["first", "early", "late"], seconds=30)
    assert addresses == {"first": "10.0.0.1", "early": "10.0.0.2", "late": "10.0.0.3"}
