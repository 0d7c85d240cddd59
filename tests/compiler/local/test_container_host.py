"""What the client and the state of a container say about how a host has ended."""

from __future__ import annotations

import time

import pytest

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.container_host import ContainerHost

CLIENT = """\
#!/bin/sh
case $1 in
    start) echo started; cat "$0.words" >&2; exit {client} ;;
    inspect) echo {container} {state} ;;
esac
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("client", "container", "state", "words", "status", "is_refused"),
    [
        (0, 0, "exited", "", 0, False),
        (7, 7, "exited", "exec: no", 7, False),
        (1, 137, "exited", "", 137, False),
        (125, 125, "exited", "", 125, False),  # of the script itself
        (
            1,
            127,
            "created",
            'runc create failed: exec: "train": executable file not found in $PATH: unknown',
            127,
            False,
        ),
        (126, 0, "created", 'crun: exec: "/etc/passwd": permission denied: OCI permission denied', 126, False),
        (
            127,
            0,
            "configured",
            "crun: executable file `train` not found in $PATH: No such file or directory",
            127,
            False,
        ),
        (1, 128, "created", "failed to create shim task: no space left on device", 128, True),
        (126, 0, "created", "error setting rlimits: operation not permitted: OCI permission denied", 126, True),
        (
            127,
            0,
            "initialized",
            "hook: no such file or directory: OCI runtime attempted to invoke a command",
            127,
            True,
        ),
        (125, 0, "configured", "", 125, True),
    ],
)
def test_status_is_never_0_where_the_client_fails(client, container, state, words, status, is_refused, tmp_path):
    """What the engine cannot start is no failure of the job, unless its image lacks the command."""
    program = tmp_path / "client"
    program.write_text(CLIENT.format(client=client, container=container, state=state))
    program.chmod(0o755)
    (tmp_path / "client.words").write_text(f"Error: {words}\n")
    host = ContainerHost("algo-1", Client(str(program)), "c", str(tmp_path / "log"))
    deadline = time.monotonic() + 30
    while not host.ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    found = [line for lines in iter(host.lines, None) for line in lines] + list(host.close())
    assert found == ["started", f"Error: {words}"]
    assert host.exit_status == status
    assert host.refusal == (f"`{program} start` failed: Error: {words}".strip() if is_refused else "")
