"""File and FastFile channels, laid out as SageMaker lays them."""

from __future__ import annotations

import json
import os

import pytest

from listening import Listener
from smspec.local.channel_data import ChannelData
from smspec.local.channel_layout import ChannelLayout
from smspec.local.events import ChannelLaid
from smspec.local.request import Unable
from smspec.local.training_request import RequestedChannel, TrainingRequest


def channel(**members: object) -> RequestedChannel:
    defaults = TrainingRequest({"InputDataConfig": [{"ChannelName": "train"}]}).channels[0]
    values = {name: getattr(defaults, name) for name in defaults.__slots__}
    return RequestedChannel(**{**values, **members})


@pytest.fixture
def lay(tmp_path):
    """Lay a channel out on some hosts; return the directory of each, and who listened."""

    def on(hosts: int, source: str, **members: object):
        cluster = TrainingRequest({"ResourceConfig": {"InstanceType": "x", "InstanceCount": hosts}}).hosts()
        listener = Listener()
        layout = ChannelLayout(cluster, listener)
        directories = []
        for host in cluster:
            directory = tmp_path / host.name
            directory.mkdir()
            layout.lay(ChannelData(channel=channel(**members), source=source), host, str(directory))
            directories.append(directory)
        on.layout = layout
        return directories, listener

    return on


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "source"
    (root / "sub").mkdir(parents=True)
    for name in ("b", "a", "sub/c", "Z", "é"):
        (root / name).write_text(name)
    return str(root)


def files(directory) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(parent, name), directory)
        for parent, _, names in os.walk(directory)
        for name in names
    )


def test_objects_lie_under_the_channel(lay, source):
    (host,), listener = lay(1, source)
    assert files(host / "train") == ["Z", "a", "b", "sub/c", "é"]
    assert (host / "train" / "sub" / "c").read_text() == "sub/c"
    assert json.loads((host / "train-manifest").read_text()) == ["Z", "a", "b", "sub/c", "é"]
    last = listener.of(ChannelLaid)[-1]
    assert (last.channel, last.size, last.total) == ("train", 10, 10)


def test_one_file_stands_for_one_object(lay, source):
    (host,), _ = lay(1, os.path.join(source, "sub", "c"))
    assert files(host / "train") == ["c"]


def test_every_host_gets_a_replica(lay, source):
    hosts, _ = lay(3, source)
    assert all(files(host / "train") == ["Z", "a", "b", "sub/c", "é"] for host in hosts)


def test_shards_are_dealt_out_by_key(lay, source):
    """ShardedByS3Key: each host gets about 1/n of the objects; keys in the order of their bytes, dealt out in turn."""
    hosts, _ = lay(2, source, distribution="ShardedByS3Key")
    assert [files(host / "train") for host in hosts] == [["Z", "b", "é"], ["a", "sub/c"]]


def test_a_program_may_spoil_its_input_and_not_the_authors(lay, source):
    hosts, _ = lay(2, source)
    (hosts[0] / "train" / "a").write_text("spoilt")
    with open(os.path.join(source, "a")) as original:
        assert original.read() == "a"


def test_fast_file_copies_nothing(lay, source):
    """FastFile streams objects on demand: the same tree as File mode, and no time or room for copies."""
    hosts, _ = lay(2, source, mode="FastFile")
    for host in hosts:
        assert files(host / "train") == ["Z", "a", "b", "sub/c", "é"]
        assert (host / "train" / "sub" / "c").read_text() == "sub/c"
        shared = os.path.islink(host / "train" / "a")
        assert shared or os.stat(host / "train" / "a").st_mode & 0o777 == 0o444


def test_what_a_program_wrote_through_fast_file_is_told(lay, source):
    """SageMaker mounts FastFile read-only; a link leads to the author's file."""
    (host,), _ = lay(1, source, mode="FastFile")
    assert lay.layout.spoilt() == []
    if not os.path.islink(host / "train" / "a"):
        pytest.skip("this file system shares blocks: nothing leads to the author's files")
    (host / "train" / "a").write_text("spoilt")
    assert lay.layout.spoilt() == [("train", os.path.join(source, "a"))]


def test_manifest_keys_lie_under_the_channel(lay, tmp_path, source):
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps([{"prefix": "source/"}, "sub/c", "a", "a"]))
    (host,), _ = lay(1, str(manifest), s3_data_type="ManifestFile")
    assert files(host / "train") == ["a", "sub/c"]


@pytest.mark.parametrize("key", ["../m.json", "sub/../a", "./a", "sub//c"])
def test_no_key_leads_out_of_the_channel(lay, tmp_path, source, key):
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps([{"prefix": "source/"}, key]))
    with pytest.raises(Unable, match="cannot be a file"):
        lay(1, str(manifest), s3_data_type="ManifestFile")
