"""What the client and the state of a container say about how a host has ended."""

from __future__ import annotations

import time
from functools import partial
from itertools import chain

import pytest

from smspec.local.engines.containers.client import Client
from smspec.local.engines.containers.container_host import ContainerHost

CLIENT = """\
#!/bin/sh
case $1 in
    start) echo started; cat "$0.words" >&2; exit {client} ;;
    inspect) echo {container} {state} '"train"' ;;
esac
"""


def ended(directory, client):
    program = directory / "client"
    program.write_text(client)
    program.chmod(0o755)
    host = ContainerHost("algo-1", Client(str(program)), "c" * 64, str(directory / "log"))
    deadline = time.monotonic() + 90
    while not host.ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    return host


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
        (126, 0, "created", 'crun: exec: "train": permission denied: OCI permission denied', 126, False),
        (126, 0, "created", "crun: open executable: Permission denied: OCI permission denied", 126, False),
        (127, 0, "created", 'process caused "exec: \\"train\\": stat train: no such file": unknown', 127, False),
        *(
            (
                1,
                127,
                "created",
                f'OCI runtime create failed: (open log.json): exec: "{name}": executable file {why}',
                127,
                True,
            )
            for name, why in (
                ("nvidia-container-runtime", "not found in $PATH: unknown"),
                ("/usr/bin/train", "not found: unknown"),
                ("trainer", "not found in $PATH"),
                ("train ", "not found in $PATH"),
                ("iptables", "not found in $PATH"),
            )
        ),
        (127, 0, "created", "crun: executable file `nvidia-hook` not found in $PATH: OCI runtime error", 127, True),
        (126, 0, "created", "error executing hook `/usr/bin/train` (exit code: 1): OCI runtime error", 126, True),
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
    (tmp_path / "client.words").write_text(f"Error: {words}\n")
    host = ended(tmp_path, CLIENT.format(client=client, container=container, state=state))
    program = tmp_path / "client"
    read = [iter(partial(host.read, descriptor), None) for descriptor in host.descriptors]
    found = [line for text in (*chain(*chain(*read)), *host.close()) for line in text.lines]
    assert found == ["started", f"Error: {words}"]
    assert host.exit_status == status
    assert host.refusal == (f"`{program} start` failed: Error: {words}".strip() if is_refused else "")
    assert host.loss == ""


@pytest.mark.process
@pytest.mark.parametrize(
    ("inspection", "listing", "is_lost"),
    [
        ("echo 0 running '\"train\"'", "echo c", True),
        ("echo 0 paused '\"train\"'", "echo c", True),
        ("echo 0 restarting '\"train\"'", "echo c", True),
        ("exit 1", "exit 1", True),  # no engine
        ("exit 1", "echo c", True),
        ("echo what", "echo c", True),
        ("exit 1", "exit 0", False),  # removed by the author
        ("test -e $0.asked && echo 3 exited '\"train\"'; touch $0.asked", "exit 1", False),  # the engine is back
    ],
    ids=["running", "paused", "restarting", "no engine", "no inspection", "nonsense", "removed", "late"],
)
def test_unknown_end_is_a_loss(inspection, listing, is_lost, tmp_path, monkeypatch):
    monkeypatch.setattr("smspec.local.engines.containers.container_host._SECONDS_TO_END", 1.0)
    host = ended(
        tmp_path, f"#!/bin/sh\ncase $1 in\nstart) exit 125 ;;\ninspect) {inspection} ;;\nps) {listing} ;;\nesac\n"
    )
    assert (host.loss.partition(" may still run: ")[2]) == (
        f"`{tmp_path}/client rm --force {'c' * 12}` ends it" if is_lost else ""
    )
    assert host.refusal == ""
