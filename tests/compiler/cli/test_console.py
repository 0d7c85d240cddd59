"""Output to the console: colors on terminals only, equal bytes in every locale."""

import os
import pty
import subprocess
import sys

import pytest

from support.servers.job_server import job_server, look
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


ORDERS = "a\x1b[31m\x1b[2J\nforged | line\r\x07\x9b\u202eb"
SENT = ("TrainingJobStatus", "TrainingJobName", "TrainingJobArn", "S3ModelArtifacts")
"""Members that decide what a command does next."""


def hostile(value, kept):
    """Return an answer of which every other text has orders to a terminal, and a line of its own."""
    if isinstance(value, dict):
        return {name: each if name in kept else hostile(each, kept) for name, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, kept) for each in value]
    return f"{value}{ORDERS}" if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("words", "kept"),
    [(words, kept) for words in ("status nightly", "logs nightly", "stop nightly") for kept in ((), SENT[:1], SENT)]
    + [("logs nightly -f", SENT[:1]), ("logs nightly -f", SENT)],  # with an unknown status, it never ends
)
@pytest.mark.parametrize("state", ["InProgress", "Failed"])
def test_text_of_the_service_gives_no_orders(monkeypatch, tmp_path, words, state, kept):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
    with job_server() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        failed = look("Failed", began=60, ended=180, billable=120, reason=f"AlgorithmError: {ORDERS}")
        server.jobs["nightly"] = (
            [look("InProgress", "Training", began=60), failed] if state == "InProgress" else [failed]
        )
        server.log(f"{ORDERS}-1", 61, ORDERS, "train_loss: 0.5")
        described, tags = server.describe, server.tags
        metric = {"Name": ORDERS, "Regex": "train_loss: ([0-9.]+)"}
        added = {
            "AlgorithmSpecification": {"TrainingInputMode": "File", "MetricDefinitions": [metric]},
            "FinalMetricDataList": [{"MetricName": ORDERS, "Value": 1.0, "Timestamp": 1700000100}],
        }
        monkeypatch.setattr(server, "describe", lambda request: {**hostile(described(request), kept), **added})
        monkeypatch.setattr(server, "tags", lambda request: hostile(tags(request), ("Key",)))
        done = smspec(*words.split())
    text = done.out + done.err
    assert done.status in (0, 1, 3) and text, text
    assert not [each for each in "\x1b\r\x07\x9b\u202e" if each in text], text
    # A reason may have several lines, which are indented.
    assert not [line for line in text.split("\n") if line.startswith("forged")], text
