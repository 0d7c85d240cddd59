"""Data of each channel, and findings for missing data."""

from __future__ import annotations

import os

import pytest

from smspec.local.channels.channel_data import find_data
from smspec.local.running.request import RunFailed, RunRequest
from smspec.local.running.training_request import TrainingRequest
from smspec.spec.model import Channel, JobSpec, Output


def find(tmp_path, *channels: Channel, data: dict[str, str] | None = None, generated: dict[str, str] | None = None):
    job = JobSpec(name="job", role="role", output=Output(s3="s3://b/o"), channels=channels)
    payload = {
        "InputDataConfig": [
            {
                "ChannelName": channel.name,
                "DataSource": {"S3DataSource": {"S3DataType": channel.s3_data_type, "S3Uri": "s3://b/m.json"}},
            }
            for channel in channels
        ]
        + [{"ChannelName": name} for name in generated or ()]
    }
    request = RunRequest(directory="run", scratch_dir="scratch", base_dir=str(tmp_path), data=data or {})
    return find_data(job, TrainingRequest(payload).channels, request, generated or {})


def test_local_is_relative_to_the_spec(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("A")
    data, findings = find(tmp_path, Channel(name="train", local="data/"))
    assert [one.source for one in data] == [str(tmp_path / "data")]
    assert findings == ()


def test_command_line_data_override_the_spec(tmp_path):
    (tmp_path / "other").write_text("A")
    data, findings = find(tmp_path, Channel(name="train", local="none"), data={"train": str(tmp_path / "other")})
    assert [one.source for one in data] == [str(tmp_path / "other")]
    assert findings == ()


def test_every_channel_without_data_is_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").write_text("{}")
    data, findings = find(
        tmp_path,
        Channel(name="a"),
        Channel(name="b", local="nowhere/"),
        Channel(name="c", local="empty"),
        Channel(name="d", local="bad", s3_data_type="ManifestFile"),
    )
    assert data == ()
    assert [(finding.code, finding.path) for finding in findings] == [
        ("SM360", ("channels", "a")),
        ("SM361", ("channels", "b", "local")),
        ("SM361", ("channels", "c", "local")),
        ("SM362", ("channels", "d", "local")),
    ]
    assert findings[0].message == "`channels.a.local` is not set"
    assert findings[1].message == "`channels.b.local`: `nowhere/` does not exist"
    assert "has no objects: `empty`" in findings[2].message
    assert "is not a manifest" in findings[3].message


def test_generated_channels_need_no_data(tmp_path):
    data, findings = find(tmp_path, generated={"code": "/tree/upload/code"})
    assert [(one.channel.name, one.source) for one in data] == [("code", "/tree/upload/code")]
    assert findings == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"trian": "x"}, r"the job has no channel `trian`; it has `train`"),
        ({"train": "nowhere"}, "no such file or directory"),
    ],
)
def test_bad_data_options_exit_2(tmp_path, data, message):
    with pytest.raises(RunFailed, match=message) as error:
        find(tmp_path, Channel(name="train"), data=data)
    assert error.value.exit_status == 2


def test_manifest_may_be_selected_by_its_directory(tmp_path):
    (tmp_path / "m.json").write_text('[{"prefix": "s3://b/"}, "a"]')
    (tmp_path / "a").write_text("A")
    data, findings = find(tmp_path, Channel(name="train", local=".", s3_data_type="ManifestFile"))
    assert findings == ()
    assert [stored.key for stored in data[0].entries(data[0].store()).objects] == ["a"]


@pytest.mark.parametrize("s3_data_type", ["S3Prefix", "ManifestFile", "AugmentedManifestFile"])
@pytest.mark.parametrize("name", ["fifo", "/dev/zero"])
def test_special_file_is_not_data(tmp_path, s3_data_type, name):
    os.mkfifo(tmp_path / "fifo")
    data, findings = find(tmp_path, Channel(name="train", local=name, s3_data_type=s3_data_type))
    assert data == ()
    assert [finding.code for finding in findings] == ["SM362"]
    assert f"`{name}` is n" in findings[0].message


def test_unreadable_data_are_named_as_in_the_spec(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "broken").symlink_to("nowhere")
    _, (finding,) = find(tmp_path, Channel(name="train", local="data/"))
    assert (
        finding.message == "channel `train`: cannot read `data/broken`: it is a link to `nowhere`, which does not exist"
    )
