"""What the client and the state of a container say about how a host has ended."""

from __future__ import annotations

import time

import pytest

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.container_host import ContainerHost

CLIENT = """\
#!/bin/sh
case $1 in
    start) exit {client} ;;
    inspect) echo {container} ;;
esac
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("client", "container", "status"),
    [(0, 0, 0), (7, 7, 7), (1, 137, 137), (126, 0, 126)],  # 126: podman could not start it
)
def test_status_is_never_0_where_the_client_fails(client, container, status, tmp_path):
    program = tmp_path / "client"
    program.write_text(CLIENT.format(client=client, container=container))
    program.chmod(0o755)
    host = ContainerHost("algo-1", Client(str(program)), "c", str(tmp_path / "log"))
    deadline = time.monotonic() + 30
    while not host.ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    list(host.close())
    assert host.exit_status == status
