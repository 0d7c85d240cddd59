"""File and FastFile channels in the layout of SageMaker."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from smspec.local.channels.channel_data import ChannelData
from smspec.local.channels.channel_layout import ChannelLayout, copied, shares_blocks
from smspec.local.running.events import ChannelLaid
from smspec.local.running.request import RunFailed
from smspec.local.running.training_request import Host, TrainingChannel, TrainingRequest
from support.local.listener import Listener


def channel(**members: object) -> TrainingChannel:
    defaults = TrainingRequest({"InputDataConfig": [{"ChannelName": "train"}]}).channels[0]
    values = {name: getattr(defaults, name) for name in defaults.__slots__}
    return TrainingChannel(**{**values, **members})


def hosts_of(count: int) -> tuple[Host, ...]:
    return TrainingRequest({"ResourceConfig": {"InstanceType": "x", "InstanceCount": count}}).hosts()


@pytest.fixture
def lay(tmp_path):
    """Lay a channel out on some hosts; return the directory of each, and who listened."""

    def on(hosts: int, source: str, **members: object):
        cluster = hosts_of(hosts)
        listener = Listener()
        layout = ChannelLayout(cluster, listener)
        directories = []
        for host in cluster:
            directory = tmp_path / host.name
            directory.mkdir()
            layout.lay(ChannelData(channel=channel(**members), source=source), host, str(directory))
            directories.append(directory)
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


def test_objects_are_laid_out_below_the_channel(lay, source):
    (host,), listener = lay(1, source)
    assert files(host / "train") == ["Z", "a", "b", "sub/c", "é"]
    assert (host / "train" / "sub" / "c").read_text() == "sub/c"
    assert json.loads((host / "train-manifest").read_text()) == ["Z", "a", "b", "sub/c", "é"]
    last = listener.of(ChannelLaid)[-1]
    assert (last.channel, last.size, last.total) == ("train", 10, 10)


def test_single_file_is_one_object(lay, source):
    (host,), _ = lay(1, os.path.join(source, "sub", "c"))
    assert files(host / "train") == ["c"]


def test_every_host_gets_a_replica(lay, source):
    hosts, _ = lay(3, source)
    assert all(files(host / "train") == ["Z", "a", "b", "sub/c", "é"] for host in hosts)


def test_shards_are_distributed_by_key(lay, source):
    """ShardedByS3Key: each host gets about 1/n of the objects; keys in the order of their bytes, dealt out in turn."""
    hosts, _ = lay(2, source, distribution="ShardedByS3Key")
    assert [files(host / "train") for host in hosts] == [["Z", "b", "é"], ["a", "sub/c"]]


def test_script_may_modify_only_its_copy(lay, source):
    hosts, _ = lay(2, source)
    (hosts[0] / "train" / "a").write_text("spoilt")
    with open(os.path.join(source, "a")) as original:
        assert original.read() == "a"
    assert (hosts[1] / "train" / "a").read_text() == "a"


@pytest.mark.parametrize("mode", ["File", "FastFile"])
def test_hosts_share_no_file(lay, source, mode):
    hosts, listener = lay(3, source, mode=mode)
    laid = [path for host in hosts for path in host.rglob("*") if path.is_file()]
    assert len({path.stat().st_ino for path in laid}) == len(laid) == 3 * 6
    assert [event.size for event in listener.of(ChannelLaid) if event.size == event.total == 10][-1] == 10


def test_fast_file_channel_is_a_read_only_copy(lay, source):
    """SageMaker mounts FastFile read-only: nothing in it may lead to the author's files."""
    hosts, _ = lay(2, source, mode="FastFile")
    for host in hosts:
        assert files(host / "train") == ["Z", "a", "b", "sub/c", "é"]
        laid = host / "train" / "sub" / "c"
        assert laid.read_text() == "sub/c"
        assert not laid.is_symlink() and not laid.samefile(os.path.join(source, "sub", "c"))
        assert laid.stat().st_mode & 0o777 == 0o444


def test_data_larger_than_the_disk_are_not_copied(tmp_path):
    with open(tmp_path / "sparse", "wb") as sparse:
        sparse.truncate(shutil.disk_usage(tmp_path).total + 1)
    if shares_blocks(str(tmp_path / "sparse"), str(tmp_path / "copy")):
        pytest.skip("this file system shares blocks: a copy takes no room")
    layout = ChannelLayout(hosts_of(1), Listener())
    with pytest.raises(RunFailed, match=r"the data of `train` needs \d.*, but `.*` has \d.* free") as unable:
        layout.require_room([ChannelData(channel=channel(), source=str(tmp_path / "sparse"))], str(tmp_path))
    assert unable.value.exit_status == 3
    assert sorted(os.listdir(tmp_path)) == ["sparse"]


def test_large_object_is_copied_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("smspec.local.channels.channel_layout.PART", 1000)
    (tmp_path / "original").write_bytes(bytes(range(256)) * 16)
    parts = list(copied(str(tmp_path / "original"), str(tmp_path / "copy")))
    assert sum(parts) == 4096
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "original").read_bytes()


def test_manifest_keys_are_laid_out_below_the_channel(lay, tmp_path, source):
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps([{"prefix": "source/"}, "sub/c", "a", "a"]))
    (host,), _ = lay(1, str(manifest), s3_data_type="ManifestFile")
    assert files(host / "train") == ["a", "sub/c"]


@pytest.mark.parametrize("key", ["../m.json", "sub/../a", "./a", "sub//c"])
def test_keys_cannot_leave_the_channel(lay, tmp_path, source, key):
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps([{"prefix": "source/"}, key]))
    with pytest.raises(RunFailed, match="cannot be a file"):
        lay(1, str(manifest), s3_data_type="ManifestFile")
