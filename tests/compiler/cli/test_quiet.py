"""`--quiet`: every command that comments on its result can be without that."""

import pytest

from smspec.cli import COMMANDS
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

WITHOUT = {"schema", "explain", "render", "status", "stop", "lsp"}
"""Commands that print their result, and one line at most besides it."""


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - WITHOUT))
def test_command_can_be_quiet(command):
    assert "-q, --quiet" in smspec(command, "--help").out


def test_quiet_init_and_diff_print_nothing_else(tmp_path):
    done = smspec("init", "--quiet", cwd=tmp_path)
    assert (done.status, done.err) == (0, "") and "job.yaml" in done.out
    same = write_job(tmp_path / "other", BUILT)
    assert smspec("diff", "-q", str(same), str(same)) == (0, "", "")
    assert "no differences" in smspec("diff", str(same), str(same)).err
