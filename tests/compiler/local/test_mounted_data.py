"""Which channels hosts see where their files are, and which are copied."""

from __future__ import annotations

import os
import socket

import pytest

from smspec.local.channels import channel_data
from smspec.local.channels.channel_data import ChannelData, MountedChannel, mounted
from smspec.local.running.training_request import TrainingChannel, TrainingRequest


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "source"
    (root / "sub" / "deep").mkdir(parents=True)
    for name in ("a", ".hidden", "sub/deep/ä"):
        (root / name).write_text(name)
    return root


def found(source, *, only_whole: bool = False, **members: object) -> MountedChannel | None:
    defaults = TrainingRequest({"InputDataConfig": [{"ChannelName": "train"}]}).channels[0]
    values = {name: getattr(defaults, name) for name in defaults.__slots__}
    data = ChannelData(channel=TrainingChannel(**{**values, **members}), source=str(source))
    return mounted(data, data.entries(data.store()).objects, only_whole=only_whole)


def test_directory_of_files_is_mounted_whole(source):
    assert found(source) == MountedChannel(directory=str(source))


def test_linked_directory_is_mounted_whole(source, tmp_path):
    (tmp_path / "linked").symlink_to(source)
    assert found(tmp_path / "linked") == MountedChannel(directory=str(tmp_path / "linked"))


def add_link(source):
    (source / "link").symlink_to(source / "a")
    return {"link": str(source / "link")}


def add_linked_directory(source):
    (source / "again").symlink_to(source / "sub")
    return {"again/deep/ä": str(source / "again/deep/ä")}


def add_empty_directory(source):
    (source / "empty" / "below").mkdir(parents=True)
    return {}


def add_fifo(source):
    os.mkfifo(source / "fifo")
    return {}


def add_socket(source):
    here = os.getcwd()
    os.chdir(source)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s")
    finally:
        os.chdir(here)
    return {}


@pytest.mark.parametrize("add", [add_link, add_linked_directory, add_empty_directory, add_fifo, add_socket])
def test_links_and_sockets_are_not_mounted(source, add):
    """A link would lead elsewhere inside a host; a FIFO and a socket to a process of this machine."""
    files = {name: str(source / name) for name in ("a", ".hidden", "sub/deep/ä")} | add(source)
    assert found(source) == MountedChannel(files=files)
    assert found(source, only_whole=True) is None


def test_single_file_is_mounted_by_its_name(source):
    assert found(source / "sub/deep/ä") == MountedChannel(files={"ä": str(source / "sub/deep/ä")})


def test_too_many_single_files_are_copied(source, monkeypatch):
    monkeypatch.setattr(channel_data, "_MOST_FILES", 3)
    add_link(source)
    assert found(source) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_unreadable_file_is_copied(source):
    (source / "a").chmod(0)
    assert found(source) is None
