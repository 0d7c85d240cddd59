"""Archives of the model and output directories of several hosts."""

from __future__ import annotations

import os
import tarfile

import pytest

from smspec.local.record.artifacts import collect
from support.local.listener import Listener


@pytest.fixture
def hosts(tmp_path):
    """Return a function that makes the directories of two hosts from {"algo-1/name": content}."""

    def make(**files: str) -> list[tuple[str, str]]:
        for host in ("algo-1", "algo-2"):
            (tmp_path / host).mkdir(exist_ok=True)
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return [(host, str(tmp_path / host)) for host in ("algo-1", "algo-2")]

    return make


def members(path: str) -> dict[str, str | None]:
    with tarfile.open(path) as archive:
        return {
            member.name: archive.extractfile(member).read().decode() if member.isfile() else None for member in archive
        }


def test_hosts_are_merged_into_one_archive(hosts, tmp_path):
    listener = Listener()
    directories = hosts(**{"algo-1/a.bin": "A", "algo-2/sub/b.bin": "B", "algo-1/sub/c.bin": "C"})
    collected = collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=listener)
    assert collected.path == str(tmp_path / "model.tar.gz")
    assert (collected.files, collected.size) == (3, 3)
    assert members(collected.path) == {"a.bin": "A", "sub": None, "sub/b.bin": "B", "sub/c.bin": "C"}
    assert listener.warnings == []


def test_last_host_wins_with_a_warning(hosts, tmp_path):
    """Containers that write to the model directory should ensure that no names clash; the result is aggregated."""
    listener = Listener()
    directories = hosts(**{"algo-1/same": "first", "algo-2/same": "second"})
    collected = collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=listener)
    assert members(collected.path) == {"same": "second"}
    assert listener.warnings == ["algo-1 and algo-2 both wrote `same` to model; smspec keeps the file of algo-2"]


def test_equal_files_make_equal_archives(hosts, tmp_path):
    directories = hosts(**{"algo-1/b": "B", "algo-1/a": "A", "algo-1/ä": "Ä"})
    first = collect("model", directories, str(tmp_path / "one"), compressed=True, reporter=Listener())
    os.utime(tmp_path / "algo-1" / "a", (1, 1))
    os.chmod(tmp_path / "algo-1" / "b", 0o600)
    second = collect("model", directories, str(tmp_path / "two"), compressed=True, reporter=Listener())
    with open(first.path, "rb") as one, open(second.path, "rb") as two:
        assert one.read() == two.read()


def test_empty_model_directory_has_no_archive(hosts, tmp_path):
    assert collect("model", hosts(), str(tmp_path / "model"), compressed=True, reporter=Listener()) is None
    assert not os.path.exists(tmp_path / "model.tar.gz")


def test_uncompressed_output_stays_in_files(hosts, tmp_path):
    """OutputDataConfig.CompressionType NONE."""
    directories = hosts(**{"algo-1/a": "A", "algo-2/sub/b": "B"})
    collected = collect("model", directories, str(tmp_path / "model"), compressed=False, reporter=Listener())
    assert (tmp_path / "model" / "sub" / "b").read_text() == "B"
    assert collected.path == str(tmp_path / "model")


def test_links_inside_are_followed_and_others_skipped(hosts, tmp_path):
    listener = Listener()
    directories = hosts(**{"algo-1/real": "R"})
    (tmp_path / "secret").write_text("S")
    (tmp_path / "algo-1" / "latest").symlink_to("real")
    (tmp_path / "algo-1" / "outside").symlink_to(tmp_path / "secret")
    (tmp_path / "algo-1" / "dangling").symlink_to("nothing")
    (tmp_path / "algo-1" / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "algo-1" / "fifo")
    collected = collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=listener)
    assert members(collected.path) == {"latest": "R", "real": "R"}
    named = [warning.split("`")[1] for warning in listener.warnings]
    assert sorted(named) == ["dangling", "fifo", "latest", "loop", "outside"]
    assert "SageMaker keeps links in model.tar.gz" in listener.warnings[named.index("latest")]


def test_failure_leaves_no_partial_archive(hosts, tmp_path):
    directories = hosts(**{"algo-1/a": "A"})
    (tmp_path / "model.tar.gz").mkdir()
    (tmp_path / "model.tar.gz" / "in the way").write_text("")
    with pytest.raises(OSError):
        collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=Listener())
    assert not os.path.exists(tmp_path / "model.tar.gz.part")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every directory")
def test_unreadable_directory_is_not_called_replaced(hosts, tmp_path):
    listener = Listener()
    directories = hosts(**{"algo-1/a": "A"})
    tmp_path.chmod(0)
    try:
        collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=listener)
    finally:
        tmp_path.chmod(0o700)
    problem = "its model directory cannot be read (permission denied); smspec ignores it"
    assert listener.warnings == [f"algo-1: {problem}", f"algo-2: {problem}"]


@pytest.mark.parametrize("replacement", ["link", "file", "nothing"])
def test_replaced_model_directory_is_ignored(hosts, tmp_path, replacement):
    """A link would bring files that the program did not write; in a container the directory cannot be replaced."""
    listener = Listener()
    directories = hosts(**{"algo-2/kept": "K", "elsewhere/secret": "S"})
    (tmp_path / "algo-1").rmdir()
    if replacement == "link":
        (tmp_path / "algo-1").symlink_to(tmp_path / "elsewhere")
    elif replacement == "file":
        (tmp_path / "algo-1").write_text("a file")
    collected = collect("model", directories, str(tmp_path / "model"), compressed=True, reporter=listener)
    assert members(collected.path) == {"kept": "K"}
    assert listener.warnings == ["algo-1: the script replaced its model directory; smspec ignores it"]
