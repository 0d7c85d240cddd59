"""Missing and malformed files of /opt/ml/input/config fail with a reason and never hang."""

import itertools
import os
import shutil
import socket
from pathlib import Path

import pytest

from support.runtime.container import Container, refused
from support.runtime.input_config_strategies import FILES


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.mark.parametrize("name", FILES)
def test_missing_input_file_is_reported(container, name):
    (container.base / "input/config" / name).unlink()
    refused(container, f"{name}: No such file or directory")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b"\xef\xbb\xbf{}", b"{} x", b"[" * 100_000],
    ids=["empty", "cut", "list", "null", "not UTF-8", "byte order mark", "text after it", "deep"],
)
def test_malformed_input_file_is_rejected(container, name, content):
    container.write(f"input/config/{name}", content)
    refused(container, name)


@pytest.mark.parametrize("name", FILES)
def test_fifo_instead_of_a_file_is_reported(container, name):
    """Opening one waits for a writer for ever."""
    path = container.base / "input/config" / name
    path.unlink()
    os.mkfifo(path)
    refused(container, f"{name}: not a regular file")


def put_socket(path):
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(path))


THINGS = {
    "a directory": lambda path: path.mkdir(),
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "a terminal": lambda path: path.symlink_to("/dev/tty"),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a socket": put_socket,
    "a file without end": lambda path: (path.touch(), os.truncate(path, 1 << 33)),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("thing", THINGS)
def test_special_input_file_is_reported(container, name, thing, monkeypatch):
    path = container.base / "input/config" / name
    path.unlink()
    monkeypatch.chdir(path.parent)  # The address of a socket is short.
    THINGS[thing](Path(name))
    refused(container, f"{name}: ")


@pytest.mark.parametrize("missing", [names for count in (2, 3) for names in itertools.combinations(FILES, count)])
def test_several_missing_files_are_reported(container, missing):
    for name in missing:
        (container.base / "input/config" / name).unlink()
    refused(container, "No such file or directory")


@pytest.mark.parametrize("directory", ["input", "input/config"])
@pytest.mark.parametrize("put", [Path.touch, os.mkfifo, None])
def test_missing_config_directory_is_reported(container, directory, put):
    path = container.base / directory
    shutil.rmtree(path)
    if put is not None:
        put(path)
    refused(container, "resourceconfig.json: ")
