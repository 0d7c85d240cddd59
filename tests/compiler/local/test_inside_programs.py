"""The programs that run in containers: standard library and Python 3.8 only, and what they do without a container."""

from __future__ import annotations

import ast
import glob
import json
import os
import socket
import subprocess
import sys
import threading

import pytest

from smspec.local.engines.containers import inside
from smspec.local.engines.containers.inside import inside_words

FILES = [
    path
    for path in sorted(glob.glob(os.path.join(os.path.dirname(inside.__file__), "*.py")))
    if not path.endswith("__init__.py")
]


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_programs_import_only_the_standard_library(path):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_programs_are_found():
    assert [os.path.basename(path) for path in FILES] == ["feeder.py", "processes.py", "relay.py", "room.py"]


@pytest.fixture
def start():
    """Start programs, and end them with their stdin."""
    started = []

    def start(program, *arguments, python=sys.executable):
        process = subprocess.Popen(
            [python, *inside_words(program, *arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.stdin.close()
        process.stdout.close()
        assert process.wait(20) == 0


def test_room_returns_what_was_written(tmp_path, start, any_python):
    for name in ("model", "checkpoints"):
        (tmp_path / name).mkdir()
    (tmp_path / "room").mkdir()
    (tmp_path / "checkpoints" / "old").write_text("old")
    (tmp_path / "checkpoints" / "last").symlink_to("old")
    process = start(
        "room", str(tmp_path / "room"), str(tmp_path / "model"), str(tmp_path / "checkpoints"), python=any_python
    )
    assert process.stdout.readline() == "ready\n"
    places = [tmp_path / "room" / "0", tmp_path / "room" / "1"]
    assert (places[1] / "last").read_text() == "old"
    (places[1] / "old").unlink()
    (places[0] / "below").mkdir()
    (places[0] / "below" / "new").write_text("new")
    os.mkfifo(places[0] / "fifo")
    process.stdin.write("keep\n")
    process.stdin.flush()
    assert process.stdout.readline() == "kept\n"
    assert (tmp_path / "model" / "below" / "new").read_text() == "new"
    assert os.listdir(tmp_path / "model") == ["below"]
    assert os.listdir(tmp_path / "checkpoints") == ["last"]


def test_relay_passes_both_directions_and_their_ends_on(tmp_path, start, any_python):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(tmp_path / "door"))
    door.listen()

    def answer():
        client, _ = door.accept()
        with client:
            received = b"".join(iter(lambda: client.recv(1 << 16), b""))
            client.sendall(str(len(received)).encode())

    threading.Thread(target=answer, daemon=True).start()
    process = start("relay", f"{port}={tmp_path}/door", python=any_python)
    assert process.stdout.readline() == "ready\n"
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(b"x" * 3_000_000)
        client.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: client.recv(1 << 16), b"")) == b"3000000"
    door.close()


def test_processes_lists_others_and_kills_one(start, any_python):
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={"NAME": "ü"})
    found = json.loads(start("processes", python=any_python).stdout.read())
    assert "time.sleep(60)" in found[str(sleeper.pid)]["cmdline"]
    assert found[str(sleeper.pid)]["environ"].encode("latin-1") == b"NAME=\xc3\xbc\0"
    start("processes", str(sleeper.pid), python=any_python)
    assert sleeper.wait(20) == -9
