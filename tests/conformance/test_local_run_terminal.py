"""A local run at a terminal."""

from __future__ import annotations

import os
import pty
import re
import sys
import termios
import time

import pytest

from support.local.local_jobs import DEADLINE, LocalJob

PART = rb"train  epoch 0  \S+ +[1-9]?\d%"
READER = """
import pathlib, time

SHOWN = pathlib.Path(pathlib.Path(__file__).with_name("shown").read_text())


def read(job, epoch, streams):
    for chunk in streams["train"]:
        while not SHOWN.exists():
            time.sleep(0.01)
"""


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(
        """
        source: src/
        entry_point: {pipe_loop: "reader:read", epochs: 2}
        input_mode: Pipe
        channels: {train: {s3: "s3://data/train/", local: data/}}
        """
    )
    job.write("src/reader.py", READER)
    job.write("src/shown", str(job.directory / "shown"))
    job.write("data/a", b"x" * 2_000_000)
    yield job
    job.assert_nothing_left()


def on_a_terminal(job: LocalJob, keys: bytes = b"", after: bytes = b"") -> tuple[int, bytes]:
    """Run the job with a terminal as its controlling one; type ``keys`` when ``after`` has appeared."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(job.directory)
        os.environ["SMSPEC_STOP_GRACE"] = "5"
        words = job.words(rate="2MB")
        os.execv(words[0], words)
    termios.tcsetwinsize(terminal, (24, 100))
    seen = b""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # EIO: everybody has closed the other side
            break
        if not data:
            break
        seen += data
        if re.search(PART, plain(seen)):  # the job goes on when the terminal shows a part of its data
            (job.directory / "shown").touch()
        if keys and after in seen:
            os.write(terminal, keys)
            keys = b""
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return status, seen


def plain(seen: bytes) -> bytes:
    """Return what the terminal was sent, without colors."""
    return re.sub(rb"\x1b\[[0-9;]*m", b"", seen)


def left(seen: bytes) -> list[str]:
    """Return the lines on the screen in the end: what was drawn and erased is gone."""
    lines = [""]
    for word in re.split(r"(\x1b\[\d+F|\x1b\[J|\r\n)", seen.decode()):
        if word.endswith("F") and word.startswith("\x1b"):
            lines = [*lines[: -1 - int(word[2:-1])], ""]
        elif word == "\r\n":
            lines.append("")
        elif word != "\x1b[J":
            lines[-1] += word
    return lines


@pytest.mark.skipif(sys.version_info < (3, 11), reason="termios.tcsetwinsize is new in Python 3.11")
def test_live_line_is_drawn_and_removed(job):
    status, seen = on_a_terminal(job)
    assert status == 0, seen
    drawn = re.findall(r"algo-1  train  epoch (\d)  ([━╸╺]{16}) +(\d+)%", plain(seen).decode())
    assert {epoch for epoch, _, _ in drawn} == {"0", "1"}
    assert len({bar for _, bar, _ in drawn}) >= 2
    screen = left(seen)
    assert not [line for line in screen if "━" in line]
    assert [line for line in screen if line.startswith("algo-1 | Completed epoch 1; read 2000000 bytes")]
    assert [line for line in screen if line.startswith("job      job: \x1b[32mCompleted\x1b[0m, exit status 0")]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="termios.tcsetwinsize is new in Python 3.11")
def test_ctrl_c_stops_the_run(job):
    """The terminal sends SIGINT to all of its foreground group."""
    status, seen = on_a_terminal(job, b"\x03", b"Completed epoch 0")
    assert status == 130
    assert b"stopping; press Ctrl-C again to kill" in seen
    assert b"Traceback" not in seen
    assert job.summary()["status"] == "Stopped"
