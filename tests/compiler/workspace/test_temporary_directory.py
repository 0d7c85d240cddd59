"""Temporary directories are removed, those of killed commands by the next command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from smspec.workspace.deferred_signals import signals_deferred
from smspec.workspace.own_directories import PREFIX, temporary_directory

HOLD = """
import sys
from smspec.workspace.own_directories import temporary_directory
with temporary_directory() as directory:
    print(directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def start() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def hold() -> tuple[subprocess.Popen, str]:
    process = start()
    return process, os.path.dirname(process.stdout.readline().strip())


def test_temporary_directory_is_removed(parent):
    with temporary_directory() as directory:
        assert os.path.dirname(os.path.dirname(directory)) == str(parent)
        with open(os.path.join(directory, "file"), "w") as file:
            file.write("x")
    assert list(parent.iterdir()) == []


def test_files_of_a_killed_command_are_removed_by_the_next(parent):
    killed, abandoned = hold()
    living, used = hold()
    killed.kill()
    killed.communicate()
    assert os.path.isdir(abandoned)
    with temporary_directory() as directory:
        assert sorted(map(str, parent.iterdir())) == sorted([os.path.dirname(directory), used])
    living.communicate("")
    assert list(parent.iterdir()) == []


def test_other_entries_are_kept(parent):
    """A link and a directory of a different name are foreign; a directory without a lock is a remainder."""
    (parent / (PREFIX + "abandoned")).mkdir()
    (parent / "elsewhere").mkdir()
    (parent / (PREFIX + "link")).symlink_to(parent / "elsewhere")
    with temporary_directory():
        pass
    assert sorted(path.name for path in parent.iterdir()) == ["elsewhere", PREFIX + "link"]


def test_commands_that_start_together_keep_their_directories(parent):
    """Each removes what was left behind, while the others make theirs."""
    started = [start() for _ in range(8)]
    holders = [(process, os.path.dirname(process.stdout.readline().strip())) for process in started]
    assert sorted(map(str, parent.iterdir())) == sorted(used for _, used in holders)
    for process, _ in holders:
        process.communicate("")
    assert list(parent.iterdir()) == []


def test_signal_at_any_moment_leaves_no_directory(parent):
    """One signal, at each step of the interpreter in turn, from the creation of the directory to its removal."""
    modules = (temporary_directory.__wrapped__.__code__.co_filename, signals_deferred.__wrapped__.__code__.co_filename)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    interrupted = 0
    for moment in range(10_000):
        steps = 0

        def trace(frame, event, _):
            nonlocal steps
            if frame.f_code.co_filename not in modules:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                steps += 1
                if steps == moment:  # noqa: B023
                    sys.settrace(None)
                    signal.raise_signal(signal.SIGINT)
            return trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            with temporary_directory():
                pass
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(before)
        assert list(parent.iterdir()) == [], moment
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask, moment
        if steps < moment:
            break
    assert interrupted > 100


STORM = """
import os, signal, sys
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory
try:
    with signals_interrupt(), temporary_directory() as directory:
        print("made", flush=True)
        signal.pause()
except KeyboardInterrupt:
    os._exit(0)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_storm_of_signals_leaves_no_directory(parent, number):
    """As many signals as this machine can send; the last ones come when nothing handles them any more."""
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", STORM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "made\n"
        while process.poll() is None:
            process.send_signal(number)
        process.communicate()
        assert list(parent.iterdir()) == []
