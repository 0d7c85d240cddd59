"""The local data of channels against the hosts of a job."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from smspec.diagnostics.explanation import explanation
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import gather
from smspec.source import DataExtent
from smspec.workspace.boundary import MOST_ENTRIES, Boundary, data_extent
from support.smspec_command import smspec

GB = 1 << 30


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    return tmp_path


def sparse(path: Path, size: int) -> None:
    """Make a file of a size that takes no space."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)


def found(repository: Path, channels: object, hosts: object, **more: object) -> list[tuple[str, str]]:
    """Return code and path of each finding about data."""
    job = {
        "smspec": "v1",
        "name": "small",
        "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
        "image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1",
        "output": "s3://example-models/small/",
        "region": "us-west-2",
        "channels": channels,
        "hosts": hosts,
        **more,
    }
    (repository / "job.yaml").write_text(yaml.safe_dump(job))
    diagnostics = compile_spec(gather(str(repository / "job.yaml"))).diagnostics
    return [(d.code, ".".join(map(str, d.path))) for d in diagnostics if d.code in ("SM393", "SM394", "SM832")]


def train(**members: object) -> dict[str, object]:
    return {"train": {"s3": "s3://example-data/train/", "local": "data/", **members}}


def hosts(kind: str = "ml.m5.large", count: int = 1, volume: str | None = "1GB") -> dict[str, object]:
    return {"instance_type": kind, "count": count} | ({"volume": volume} if volume else {})


LARGE = [
    (train(), hosts(), 3 * GB, "hosts.volume"),
    (train(), hosts(), GB + 1, "hosts.volume"),
    (train(distribution="ShardedByS3Key"), hosts(count=2), 3 * GB, "hosts.volume"),
    (train(), hosts("ml.g5.xlarge", volume=None), 251 * GB, "hosts.instance_type"),
]
SMALL = [
    (train(), hosts(), GB),
    (train(), hosts(volume="4GB"), 3 * GB),
    (train(input_mode="FastFile"), hosts(), 3 * GB),
    (train(input_mode="Pipe"), hosts(), 3 * GB),
    (train(distribution="ShardedByS3Key"), hosts(count=4), 3 * GB),
    (train(), hosts("ml.g5.xlarge", volume=None), 249 * GB),
    (train(), hosts("ml.p6e-gb200.36xlarge", volume="1GB"), 3 * GB),
]


@pytest.mark.parametrize(("channels", "on", "size", "path"), LARGE)
def test_data_that_does_not_fit_is_reported(repository, channels, on, size, path):
    sparse(repository / "data/a/b", size - 1)
    sparse(repository / "data/c", 1)
    for number in range(6):
        sparse(repository / f"data/{number}", 0)
    assert found(repository, channels, on) == [("SM393", path)]


@pytest.mark.parametrize(("channels", "on", "size"), SMALL)
def test_data_that_fits_is_not_reported(repository, channels, on, size):
    sparse(repository / "data/a/b", size)
    for number in range(6):
        sparse(repository / f"data/{number}", 0)
    assert found(repository, channels, on) == []


def test_channels_are_added_up(repository):
    sparse(repository / "data/a", GB - 1)
    sparse(repository / "more", GB - 1)
    both = train() | {"test": {"s3": "s3://example-data/test/", "local": "more"}}
    assert found(repository, train(), hosts()) == []
    assert found(repository, both, hosts()) == [("SM393", "hosts.volume")]
    assert found(repository, both, hosts(volume="2GB")) == []


@pytest.mark.parametrize(("files", "count", "reported"), [(1, 4, True), (3, 4, True), (4, 4, False), (0, 4, False)])
def test_hosts_without_objects_are_reported(repository, files, count, reported):
    for number in range(files):
        sparse(repository / f"data/{number}", 1)
    sharded = train(distribution="ShardedByS3Key")
    expected = [("SM394", "channels.train.distribution")] if reported else []
    assert found(repository, sharded, hosts(count=count)) == expected
    assert found(repository, train(), hosts(count=count)) == []


def test_objects_are_counted_for_the_groups_of_the_channel(repository):
    for number in range(2):
        sparse(repository / f"data/{number}", 1)
    group = {"instance_type": "ml.m5.large", "count": 2}
    groups = {"groups": [{"name": "a", **group}, {"name": "b", **group}], "volume": "1GB"}
    assert found(repository, train(distribution="ShardedByS3Key"), groups) == [("SM394", "channels.train.distribution")]
    assert found(repository, train(distribution="ShardedByS3Key", instance_groups=["a"]), groups) == []


def test_unknown_extents_are_not_reported(repository, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    sparse(outside / "a", 9 * GB)
    boundary = Boundary(os.path.realpath(repository))
    assert data_extent(str(outside), boundary) is None
    assert data_extent(str(repository / "data\0"), boundary) is None
    (repository / "data/link").symlink_to(outside)
    assert data_extent(str(repository / "data"), boundary) is None
    (repository / "data/link").unlink()
    os.mkfifo(repository / "data/fifo")
    assert data_extent(str(repository / "data"), boundary) is None
    assert data_extent(str(repository / "data/fifo"), boundary) is None
    assert found(repository, train(local=str(outside)), hosts()) == []
    assert found(repository, train(local=str(outside / "gone")), hosts()) == []
    (repository / "out").symlink_to(outside / "gone")
    assert found(repository, train(local="out"), hosts()) == []


@pytest.mark.parametrize("local", ["gone", "gone/more/", "data/part-0.csv"])
def test_absent_data_is_a_note_of_validate_alone(repository, local):
    absent = [("SM832", "channels.train.local")]
    assert found(repository, train(local=local), hosts()) == absent
    done = smspec("validate", "--strict", cwd=repository)
    assert (done.status, done.out.count("note[SM832]")) == (0, 1)
    assert f"`{local}` does not exist" in done.out
    assert "SM832" not in smspec("render", "--api-json", cwd=repository).err
    sparse(repository / local / "a" if local.endswith("/") else repository / local, 1)
    assert found(repository, train(local=local), hosts()) == []


def test_absent_data_of_several_specs_is_one_line(repository):
    for name in ("one", "two", "three"):
        found(repository, train(local="gone/"), hosts())
        (repository / f"{name}.yaml").write_text((repository / "job.yaml").read_text().replace("small", name))
    (line,) = [line for line in smspec("validate", ".", cwd=repository).out.splitlines() if "SM832" in line]
    assert ", and 3 more like it" in line


def test_dangling_link_is_not_looked_behind(repository):
    (repository / "data/link").symlink_to(repository / "gone")
    assert found(repository, train(local="data/link"), hosts()) == []


def test_number_of_entries_is_limited(repository):
    boundary = Boundary(os.path.realpath(repository))
    for number in range(MOST_ENTRIES):
        sparse(repository / f"data/{number}", 1)
    assert data_extent(str(repository / "data"), boundary) == DataExtent(files=MOST_ENTRIES, bytes=MOST_ENTRIES)
    sparse(repository / "data/more", 1)
    assert data_extent(str(repository / "data"), boundary) is None


@pytest.mark.parametrize("code", ["SM393", "SM394", "SM832"])
def test_example_has_its_finding_and_its_fix_does_not(repository, code):
    sparse(repository / "data/a", 3 * GB)
    wrong, right = (yaml.safe_load(piece) for piece in re.findall(r"```yaml\n(.*?)```", explanation(code), re.DOTALL))
    assert [each for each, _ in found(repository, wrong["channels"], wrong.get("hosts", hosts()))] == [code]
    assert found(repository, right["channels"], right.get("hosts", hosts())) == []
