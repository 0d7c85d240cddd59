"""A leader and its members, as processes and connections of this machine."""

import os
import signal
import subprocess
import sys

import pytest

from container import RUNTIME
from smspec_runtime.refusal import Refused
from smspec_runtime.team import Team

MEMBER = [sys.executable, "-m", "smspec_runtime.team.member", "127.0.0.1"]
pytestmark = pytest.mark.xdist_group("team")  # one port


def member(name, directory):
    environ = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    return subprocess.Popen([*MEMBER, name], env=environ, cwd=directory, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("status", [0, 3, 143])
def test_members_end_as_the_leader_says(tmp_path, status):
    (tmp_path / "socket.py").write_text("raise SystemExit('the author\\'s')")
    members = [member(name, tmp_path) for name in ("b", "c")]
    team = Team(["b", "c"], over_ssh=False)
    team.gather(30)
    members[0].terminate()  # Who has been let in leaves the end to the leader.
    team.dismiss(status)
    ended = [(process.wait(20), process.communicate()[1]) for process in members]
    assert [code for code, _ in ended] == [status, status]
    assert all((f"exit status {status}" in said) == (status != 0) for _, said in ended)


def test_a_leader_that_goes_away_is_a_failure(tmp_path):
    process = member("b", tmp_path)
    team = Team(["b"], over_ssh=False)
    team.gather(30)
    del team  # and its connections with it
    assert process.wait(20) == 1
    assert "went away before the job had ended" in process.communicate()[1]


def test_a_member_that_has_not_been_let_in_can_be_stopped(tmp_path):
    process = member("b", tmp_path)
    assert "waiting for the leader" in process.stderr.readline()
    process.terminate()
    assert process.wait(20) == -signal.SIGTERM
    process.stderr.close()


def test_strangers_and_silence_do_not_make_a_team(tmp_path):
    process = member("stranger", tmp_path)
    with pytest.raises(Refused, match="not complete after 2 s: b, c did not call"):
        Team(["b", "c"], over_ssh=False).gather(2)
    assert process.wait(20) == 1
    process.stderr.close()


def test_a_companion_that_fails_takes_the_program_with_it(tmp_path):
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
