"""A leader and its members as local processes and connections."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from smspec_runtime.outcome import Outcome
from smspec_runtime.peers.keys import Keys
from smspec_runtime.peers.leader import Team
from smspec_runtime.refusal import Refused
from support.runtime.container import RUNTIME

with socket.create_server(("127.0.0.1", 0)) as free:
    PORT = free.getsockname()[1]
MEMBER = [sys.executable, "-m", "smspec_runtime.peers.member", f"127.0.0.1:{PORT}"]


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def call():
    """Return a connection to a leader, which may have to be waited for."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", PORT), 20)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def member(name, directory, *words, python=sys.executable):
    environ = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    words = [python, *MEMBER[1:], name, "-", *words]
    return subprocess.Popen(words, env=environ, cwd=directory, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("status", [0, 3, 143])
def test_members_exit_as_the_leader_does(tmp_path, status):
    for name in ("select", "socket", "subprocess"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the author\\'s')")
    members = [member(name, tmp_path) for name in ("b", "c")]
    team = Team(["b", "c"], keys=None, port=PORT)
    team.gather(30)
    members[0].terminate()  # Who has been let in leaves the end to the leader.
    team.dismiss(status, "ValueError: bad row\nof two lines " + "é" * 300)
    ended = [(process.wait(20), process.communicate()[1]) for process in members]
    assert [code for code, _ in ended] == [status, status]
    said = f"exit status {status}: ValueError: bad row of two lines éé"
    assert all((said in heard) == (status != 0) for _, heard in ended)


def test_lost_leader_is_a_failure(tmp_path):
    process = member("b", tmp_path)
    team = Team(["b"], keys=None, port=PORT)
    team.gather(30)
    del team  # and its connections with it
    assert process.wait(20) == 1
    assert "went away before the job had ended" in process.communicate()[1]


def test_waiting_member_can_be_stopped(tmp_path):
    process = member("b", tmp_path)
    assert "waiting for the leader" in process.stderr.readline()
    process.terminate()
    assert process.wait(20) == -signal.SIGTERM
    process.stderr.close()


def test_strangers_do_not_complete_a_team(tmp_path):
    process = member("stranger", tmp_path)
    with pytest.raises(Refused, match="not complete after 2 s: b, c did not call"):
        Team(["b", "c"], keys=None, port=PORT).gather(2)
    assert process.wait(20) == 1
    process.stderr.close()


def test_member_with_a_server_ends_with_the_leader(tmp_path, any_python):
    """Its program ends first; its server is needed until the leader's program ends."""
    process = member("b", tmp_path, "sh", "-c", "echo done >file", python=any_python)
    team = Team(["b"], keys=None, port=PORT)
    team.gather(30)
    wait_until((tmp_path / "file").exists)
    assert process.poll() is None
    team.dismiss(3)
    assert process.wait(20) == 3
    process.stderr.close()


@pytest.mark.parametrize(
    ("words", "status"), [(("sh", "-c", "exit 5"), 5), (("sh", "-c", "kill -9 $$"), 137), (("/nowhere/program",), 127)]
)
def test_member_with_a_failing_program_does_not_wait(tmp_path, words, status):
    process = member("b", tmp_path, *words)
    team = Team(["b"], keys=None, port=PORT)
    team.gather(30)
    assert process.wait(20) == status
    process.stderr.close()
    team.dismiss(0)


def test_signals_reach_the_program_of_a_member(tmp_path):
    """It gets them with its process group, none of them ignored; the member stays until it has ended."""
    setup = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(8)); open('up', 'w')"
    script = f"{setup}\nwhile True: time.sleep(0.1)"  # A signal that comes right before a sleep is heard after it.
    process = subprocess.Popen(
        [*MEMBER, "b", "-", sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        cwd=tmp_path,
        start_new_session=True,
    )
    team = Team(["b"], keys=None, port=PORT)
    team.gather(30)
    wait_until((tmp_path / "up").exists)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) == 8
    team.dismiss(0)


@pytest.mark.parametrize(
    ("said", "times"),
    [(b"", 100), (b"c\n", 50), (b"stranger\n", 100), (b"\xff", 100)],
    ids=["silent", "one letter", "a word", "not UTF-8"],
)
def test_strangers_do_not_delay_the_team(tmp_path, said, times):
    """Many strangers with any content: the port is open to the network."""
    team = Team(["b", "c"], keys=None, port=PORT)
    gathering = threading.Thread(target=team.gather, args=(30,))
    gathering.start()
    members = [member("c", tmp_path, "sh", "-c", "echo >file")]
    strangers = [call() for _ in range(times)]
    for stranger in strangers:
        stranger.sendall(said)
    members.append(member("b", tmp_path))
    gathering.join(20)
    assert not gathering.is_alive()
    wait_until((tmp_path / "file").exists)
    for stranger in strangers:
        stranger.close()
    team.dismiss(0)
    for process in members:
        assert process.wait(20) == 0
        process.stderr.close()


def test_impostor_does_not_replace_a_member(tmp_path):
    """The real member, which calls later, still receives the end."""
    team = Team(["b"], keys=None, port=PORT)
    gathering = threading.Thread(target=team.gather, args=(30,))
    gathering.start()
    with call() as stranger:
        stranger.sendall(b"b\n")
        gathering.join(20)
        process = member("b", tmp_path, "sh", "-c", "echo >file")
        wait_until((tmp_path / "file").exists)
        team.dismiss(4)
        assert process.wait(20) == 4
        assert stranger.recv(16) == b"4\n"
    process.stderr.close()


def keys(directory, *, is_leader):
    """Make the keys of a host as the runtime does."""

    def capture(words, environ, seconds):
        done = subprocess.run(words, env=environ, timeout=seconds, check=False, stdin=subprocess.DEVNULL)
        return Outcome(done.returncode)

    (directory / ".ssh").mkdir(parents=True)
    made = Keys(str(directory / ".ssh/smspec"))
    made.make(is_leader, os.environ, capture)
    return made


def gathering(team, seconds):
    """Start to gather; return what waits for the reason why it ended, and returns that."""
    reasons = []

    def gather():
        with pytest.raises(Refused) as refusal:
            team.gather(seconds)
        reasons.append(str(refusal.value))

    thread = threading.Thread(target=gather)
    thread.start()

    def reason():
        thread.join(60)
        return reasons[0]

    return reason


HERE = "127.0.0.1"  # a member by this name has this address


def test_member_receives_the_key_of_its_leader(tmp_path):
    """The leader makes it; no private half leaves a host, and each has its own host key."""
    leader = keys(tmp_path / "leader", is_leader=True)
    own = keys(tmp_path / "b", is_leader=False)
    team = Team([HERE], leader, PORT, "algo-1")
    process = subprocess.Popen(
        [*MEMBER, HERE, str(tmp_path / "b/.ssh/smspec")],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stderr=subprocess.PIPE,
        text=True,
    )
    reason = gathering(team, 3)
    wait_until(Path(own.authorized).exists)
    assert reason() == f"the hosts are not complete after 3 s: {HERE} does not answer ssh"
    assert Path(own.authorized).read_text() == f"{leader.public()}\n"
    assert own.public_of_host() != leader.public_of_host()
    assert sorted(path.name for path in (tmp_path / "b/.ssh/smspec").iterdir()) == [
        *("authorized_keys", "host", "host.pub")
    ]
    team.dismiss(0)
    assert process.wait(20) == 0
    process.stderr.close()


@pytest.mark.parametrize(
    ("member_name", "said", "is_answered"),
    [
        (HERE, "{key}", True),
        ("127.0.0.2", "{key}", False),
        ("no-such-host.invalid", "{key}", False),
        (HERE, "", False),
        (HERE, "ssh-rsa AAAA", False),
        (HERE, "{key} {key}", False),
        (HERE, "@cert-authority * {key}", False),
        (HERE, "x" * 600, False),
    ],
)
def test_key_is_sent_only_to_the_address_of_its_host(tmp_path, capfd, member_name, said, is_answered):
    """The port is open to the network; a name counts only from its own address."""
    leader = keys(tmp_path / "leader", is_leader=True)
    team = Team([member_name, "c"], leader, PORT, "algo-1")
    seconds = 2 if is_answered else 1
    reason = gathering(team, seconds)
    with call() as caller:
        caller.sendall(f"{member_name} {said.format(key=leader.public_of_host())}\n".encode())
        try:
            answer = caller.recv(512).decode()
        except ConnectionResetError:
            answer = ""
        assert answer == (f"{leader.public()}\n" if is_answered else "")
        if is_answered:
            caller.sendall(b"ready\n")
        missing = "c" if is_answered else f"{member_name}, c"
        assert reason() == f"the hosts are not complete after {seconds} s: {missing} did not call"
    assert ("ignoring a call as 127.0.0.2 from 127.0.0.1" in capfd.readouterr().err) == (member_name == "127.0.0.2")
    team.dismiss(0)


@pytest.mark.parametrize("answer", ["", "ssh-rsa AAAA", 'command="sh" {key}', "{key}\r{key}", "0"])
def test_member_accepts_only_a_key(tmp_path, answer):
    """A leader that answers something else is called again."""
    own = keys(tmp_path / "b", is_leader=False)
    environ = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    with socket.create_server((HERE, PORT)) as leader:
        leader.settimeout(30)  # a member that has ended never connects
        process = subprocess.Popen([*MEMBER, "b", str(tmp_path / "b/.ssh/smspec")], env=environ, stderr=subprocess.PIPE)
        for _ in range(2):
            with leader.accept()[0] as connection:
                assert connection.recv(512).decode() == f"b {own.public_of_host()}\n"
                connection.sendall(f"{answer.format(key=own.public_of_host())}\n".encode())
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM
    process.stderr.close()
    assert not Path(own.authorized).exists()


def test_ssh_prefers_the_job_hosts_to_image_settings(tmp_path):
    leader = keys(tmp_path, is_leader=True)
    (tmp_path / ".ssh/config").write_text("StrictHostKeyChecking no\nHost other\n    User me\n")
    leader.trust({"algo-1": [leader.public_of_host()], "algo-2": ["k1", "k2"]})

    def asked(host):
        words = ["ssh", "-G", "-F", str(tmp_path / ".ssh/config"), host]
        found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return dict(line.partition(" ")[::2] for line in found.splitlines())

    ours = asked("algo-2")
    assert (ours["stricthostkeychecking"], ours["identityfile"]) == ("true", str(tmp_path / ".ssh/smspec/own"))
    assert ours["userknownhostsfile"] == str(tmp_path / ".ssh/smspec/known_hosts")
    assert (asked("github.com")["stricthostkeychecking"], asked("other")["user"]) == ("false", "me")
    lines = (tmp_path / ".ssh/smspec/known_hosts").read_text().splitlines()
    assert lines == [f"algo-1 {leader.public_of_host()}", "algo-2 k1", "algo-2 k2"]


def test_every_start_creates_new_keys(tmp_path):
    first = keys(tmp_path / "a", is_leader=True)
    before = (first.public(), first.public_of_host())
    again = Keys(str(tmp_path / "a/.ssh/smspec"))
    again.make(True, os.environ, lambda words, environ, _: Outcome(subprocess.call(words, env=environ)))
    assert not {again.public(), again.public_of_host()} & {*before}
    with pytest.raises(Refused, match="cannot make SSH keys: ssh-keygen: no such program"):
        again.make(True, {}, lambda *_: Outcome(127, error="ssh-keygen: no such program along PATH"))


def test_disconnected_caller_is_not_a_member():
    team = Team(["b", "c"], None, port=PORT)  # the team is not complete when b has called
    reason = gathering(team, 3)
    with call() as caller:
        caller.sendall(b"b\n")
        time.sleep(1)
    assert reason() == "the hosts are not complete after 3 s: b, c did not call"


def test_failing_companion_ends_the_program(tmp_path):
    """A server that dies under a program would leave it waiting for as long as the job may run."""
    script = """
import sys
from smspec_runtime.command import Companion
from smspec_runtime.supervisor import Supervisor
supervisor = Supervisor()
supervisor.start()
assert supervisor.accompany(Companion(["/nowhere/sshd"]), {}, "/").status == 127
assert supervisor.accompany(Companion(["sh", "-c", "sleep 0.3; exit $N"], {"N": sys.argv[1]}), {}, "/") is None
outcome = supervisor.run(["sleep", sys.argv[2]], {}, "/")
print(outcome.status, outcome.error)
"""
    for words, said in (
        (("5", "60"), "5 `sh -c sleep 0.3; exit $N`, which runs beside the program, ended with exit status 5\n"),
        (("0", "1"), "0 \n"),
        (("5", "0"), "0 \n"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            env={"PYTHONPATH": str(RUNTIME), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert done.stdout == said, done.stderr
