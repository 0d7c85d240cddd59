"""Output to the console: colors on terminals only, equal bytes in every locale."""

import os
import pty
import subprocess
import sys

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec, smspec_process

ESCAPE = b"\x1b["


def on_a_terminal(*words, cwd, **variables):
    """Run the command with a terminal as its output and return what it wrote there."""
    terminal, inside = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-m", "smspec", *words],
        cwd=cwd,
        env=environment(**{"TERM": "xterm", **variables}),
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=inside,
    )
    os.close(inside)
    written = b""
    try:
        while piece := os.read(terminal, 65536):
            written += piece
    except OSError:
        pass  # Linux says EIO when the other end is closed.
    os.close(terminal)
    assert command.wait(timeout=30) == 1
    return written.replace(b"\r\n", b"\n")


@pytest.fixture
def faulty(tmp_path):
    write_job(tmp_path, BUILT + "größe: x\n")
    return tmp_path


@pytest.mark.parametrize("words", [["validate"], ["build"]])
def test_terminal_gets_color_and_the_same_text(words, faulty):
    import re

    seen = on_a_terminal(*words, cwd=faulty)
    done = smspec(*words, cwd=faulty)
    assert ESCAPE in seen
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", seen).decode() == done.out + done.err


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_color_can_be_disabled(variables, faulty):
    assert ESCAPE not in on_a_terminal("validate", cwd=faulty, **variables)


def test_empty_no_color_keeps_colors(faulty):
    """no-color.org: when present and not an empty string."""
    assert ESCAPE in on_a_terminal("validate", cwd=faulty, NO_COLOR="")


def test_colors_need_a_terminal(faulty):
    done = smspec_process("validate", cwd=faulty, env=environment(TERM="xterm", FORCE_COLOR="1"))
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize(
    "variables",
    [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "latin-1"}],
)
def test_output_is_utf_8_in_any_locale(variables, faulty):
    done = smspec_process("validate", cwd=faulty, env=environment(**variables))
    assert (done.status, done.err) == (1, "checked 1 job: 1 error\nFor details, run `smspec explain SM204`.\n")
    assert " größe: x\n" in done.out


def test_undecodable_file_name_is_escaped(tmp_path):
    name = os.fsdecode(b"job-\xff.yaml")
    write_job(tmp_path, BUILT + "nme: x\n").rename(tmp_path / name)
    for words in (["validate", name], ["validate", "--format", "json", name], ["build", name]):
        done = smspec_process(*words, cwd=tmp_path)
        assert done.status == 1
        assert "job-\\udcff.yaml" in done.out + done.err
