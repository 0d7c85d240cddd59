"""Data, models, and run directories nested deeper than the Python stack or the limit of S3 keys."""

from __future__ import annotations

import json
import os

import pytest

from smspec.local.feeder.entries import entries_of
from smspec.local.feeder.objects import ChannelDataError, LocalStore, objects_under
from smspec.local.feeder.plan import FeederChannel
from smspec.source.real_file import remove_tree
from support.local.local_jobs import LocalJob

DEEP = 1100


@pytest.fixture(autouse=True)
def removes_deep_directories(tmp_path):
    """Remove what a test leaves, however it ends: pytest's own removal calls itself for each level."""
    yield
    remove_tree(str(tmp_path))


def nested(root, depth):
    """Make directories in each other with a file in the last."""
    os.makedirs(root)
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_data_deeper_than_a_key_are_an_error(tmp_path):
    nested(tmp_path / "data", DEEP)
    with pytest.raises(ChannelDataError, match="longer than 1,024 bytes, the maximum of an S3 key"):
        objects_under(str(tmp_path / "data"))


def test_data_as_deep_as_a_key_are_found(tmp_path):
    nested(tmp_path / "data", 511)
    (found,) = objects_under(str(tmp_path / "data"))
    assert found.key == "d/" * 511 + "f"


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"a":' * 100_000, b"[" + b"9" * 5000 + b"]", b'[{"prefix": "\xff"}]'],
    ids=["lists", "mappings", "long number", "not UTF-8"],
)
@pytest.mark.parametrize("kind", ["ManifestFile", "AugmentedManifestFile"])
def test_manifest_of_deep_json_is_an_error(content, kind, tmp_path):
    (tmp_path / "m").write_bytes(content)
    channel = FeederChannel("train", str(tmp_path / "m"), s3_data_type=kind, attributes=["a"])
    with pytest.raises(ChannelDataError):
        entries_of(channel, LocalStore(channel)).parts(0)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_manifest_with_impossible_names_is_an_error(name, tmp_path):
    (tmp_path / "m").write_text(json.dumps([{"prefix": ""}, name]))
    channel = FeederChannel("train", str(tmp_path / "m"), s3_data_type="ManifestFile")
    with pytest.raises(ChannelDataError, match="is not a file name"):
        entries_of(channel, LocalStore(channel))


def test_deep_directories_are_removed_by_the_next_run(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(
        """
        source: src/
        entry_point: train.py
        hosts: {instance_type: ml.m5.large, count: 1, volume: 1GB}
        """
    )
    job.write(
        "src/train.py",
        f"""
        import os
        os.chdir(os.environ["SM_OUTPUT_DATA_DIR"])
        for _ in range({DEEP}):
            os.mkdir("d")
            os.chdir("d")
        """,
    )
    for _ in range(2):
        ended = job.run()
        assert ended.returncode == 0, ended.stderr
