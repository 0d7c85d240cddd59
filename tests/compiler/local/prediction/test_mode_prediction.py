"""The prediction of each input mode for a whole job."""

import json

from hypothesis import given
from hypothesis import strategies as st

from smspec.local.prediction.job_data import JobChannel, JobData
from smspec.local.prediction.limits import HostLimits, Interval
from smspec.local.prediction.prediction import (
    HEAD,
    Prediction,
    predicted_modes,
    prediction_lines,
    rates,
    row,
    times,
)
from smspec.local.running.training_request import TrainingRequest

HOST = HostLimits(network=Interval(1e8, 1e8), disk=Interval(1e8, 1e8), capacity=50 << 30)


def job(size=10**10, objects=100, count=1, mode="File", host=HOST, readers="", more=(), **channel):
    s3 = {
        "S3Uri": "s3://b/x/",
        "S3DataType": channel.pop("kind", "S3Prefix"),
        "S3DataDistributionType": "FullyReplicated",
    }
    if channel.pop("sharded", False):
        s3["S3DataDistributionType"] = "ShardedByS3Key"
    item = {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": s3}, **channel}
    training = TrainingRequest(
        {
            "InputDataConfig": [item, *more],
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": count, "VolumeSizeInGB": 50},
        }
    )
    channels = tuple(JobChannel(channel=each, size=size, objects=objects) for each in training.channels)
    return JobData(channels=channels, hosts=training.hosts(), limits={"ml.m5.large": host}, readers=readers)


def by_mode(data):
    return {mode.mode: mode for mode in predicted_modes(data)}


def test_replicated_data_are_downloaded_by_each_host():
    whole, shared = by_mode(job(count=4)), by_mode(job(count=4, sharded=True))
    assert whole["File"].downloaded == 4 * 10**10 and whole["File"].disk == 10**10
    assert shared["File"].downloaded == 10**10 and shared["File"].disk == 10**10 // 4
    assert shared["File"].wait.most < whole["File"].wait.most
    assert whole["Pipe"].downloaded == whole["FastFile"].disk == 0


def test_host_with_most_objects_decides():
    """Of three objects on two hosts, one has two thirds of the data."""
    found = by_mode(job(size=3 * 10**9, objects=3, count=2, sharded=True))
    assert found["File"].disk == 2 * 10**9 and found["File"].downloaded == 3 * 10**9


def test_groups_have_their_own_channels_and_disks():
    """Of two groups, the one with less data has the smaller disk, which is full."""
    groups = [
        {"InstanceGroupName": name, "InstanceType": kind, "InstanceCount": count}
        for name, kind, count in [("a", "ml.m5.large", 2), ("b", "ml.g5.xlarge", 1)]
    ]
    training = TrainingRequest(
        {
            "InputDataConfig": [
                {
                    "ChannelName": name,
                    "DataSource": {"S3DataSource": {"S3Uri": "s3://b/", "InstanceGroupNames": [name]}},
                }
                for name in ("a", "b")
            ],
            "ResourceConfig": {"InstanceGroups": groups},
        }
    )
    sizes = {"a": 10**12, "b": 10**11}
    channels = tuple(JobChannel(channel=each, size=sizes[each.name], objects=None) for each in training.channels)
    limits = {
        "ml.m5.large": HostLimits(network=Interval(1e9, 1e9), disk=None, capacity=10**13),
        "ml.g5.xlarge": HostLimits(network=Interval(1e7, 1e7), disk=None, capacity=10**10),
    }
    data = JobData(channels=channels, hosts=training.hosts(), limits=limits)
    copied = by_mode(data)["File"]
    assert (copied.downloaded, copied.disk, copied.capacity) == (2 * 10**12 + 10**11, 10**11, 10**10)
    assert copied.is_disk_full and copied.wait == Interval(10**4, 10**4)


def test_full_disk_is_seen():
    assert not by_mode(job(size=50 << 30))["File"].is_disk_full
    assert by_mode(job(size=(50 << 30) + 1))["File"].is_disk_full
    assert not by_mode(job(size=10**15))["Pipe"].is_disk_full


def test_impossible_modes_have_a_reason():
    def obstacles(**channel):
        return {mode: each.obstacle for mode, each in by_mode(job(mode="Pipe", **channel)).items()}

    assert set(obstacles().values()) == {""}
    assert [bool(text) for text in obstacles(CompressionType="Gzip").values()] == [True, True, False]
    assert [bool(text) for text in obstacles(kind="AugmentedManifestFile").values()] == [True, True, False]
    assert [bool(text) for text in obstacles(kind="ManifestFile").values()] == [False, True, False]
    impossible = by_mode(job(CompressionType="Gzip"))["File"]
    assert impossible.wait is impossible.disk is impossible.one_pass is None


def test_shared_fifo_is_a_caution_where_it_is_new():
    new, known = by_mode(job(readers="2 processes")), by_mode(job(readers="2 processes", mode="Pipe"))
    assert new["Pipe"].caution == "2 processes of a host must not share a FIFO"
    assert known["Pipe"].caution == new["File"].caution == ""


def test_one_pass_takes_what_the_slowest_part_takes():
    """10 GB at 100 MB/s from the network or the disk; what was downloaded may still be in memory."""
    found = by_mode(job(objects=None))
    assert found["Pipe"].one_pass == Interval(100.0, 100.0) and found["Pipe"].rate == Interval(1e8, 1e8)
    assert found["File"].one_pass == Interval(0.0, 100.0) and found["File"].rate == Interval(1e8, float("inf"))
    local = HostLimits(network=HOST.network, disk=None, capacity=50 << 30)
    assert by_mode(job(host=local))["File"].one_pass is by_mode(job(host=local))["File"].rate is None


@given(st.integers(1, 10**13), st.integers(1, 10**13))
def test_predictions_grow_with_the_data(size, other):
    small, large = sorted([size, other])
    before, after = by_mode(job(small)), by_mode(job(large))
    for mode in before:
        for name in ("wait", "one_pass"):
            one, two = getattr(before[mode], name), getattr(after[mode], name)
            assert one.least <= one.most and one.least <= two.least and one.most <= two.most


def test_mixed_modes_have_a_row_of_their_own():
    other = {"ChannelName": "test", "InputMode": "Pipe", "DataSource": {"S3DataSource": {"S3Uri": "s3://b/y/"}}}
    found = predicted_modes(job(more=(other,)))
    assert [(mode.mode, mode.is_of_spec) for mode in found] == [
        ("", True),
        ("File", False),
        ("FastFile", False),
        ("Pipe", False),
    ]
    assert (found[0].disk, found[1].disk) == (10**10, 2 * 10**10)


def test_json_has_units_and_no_infinity():
    """A file that may still be in memory has no highest rate: null."""
    found = Prediction(is_expected=True, instances={"ml.m5.large": 1}, data=10**10, modes=predicted_modes(job()))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    copied, _, streamed = document["modes"]
    assert copied["bytes_per_second"] == [1e8, None] and copied["pass_seconds"] == [0.0, 100.0]
    assert streamed["bytes_per_second"][1] == 1e8
    lines = prediction_lines(found, verbose=False)
    assert lines[0] == "prediction for 1 × ml.m5.large with 10 GB"
    assert all(len(row(mode)) == len(HEAD) + 1 for mode in found.modes)


def test_missing_size_is_shown_if_another_one_is_known():
    """A job whose spec has no size at all gets no line about it, except with ``-v``."""
    reason = "the size of channel `test` in S3 is unknown: set `channels.test.size`"
    for is_expected, verbose in [(True, False), (True, True), (False, True)]:
        found = Prediction(unknown=(reason,), is_expected=is_expected)
        assert prediction_lines(found, verbose=verbose) == [f"no prediction: {reason}"]
    assert prediction_lines(Prediction(unknown=(reason,)), verbose=False) == []


def test_bounds_read_well():
    shown = {(0.0, 0.2): "at most 0.2 s", (12, 40): "12 to 40 s", (50, 180): "50 s to 3.0 min", (0, 0): "0 s"}
    shown |= {(7200, 7200): "2.0 h", (90, 100): "90 to 100 s", (5400, 200_000): "90 min to 2.3 d"}
    for bounds, text in shown.items():
        assert times(Interval(*bounds)) == text
    assert rates(Interval(8.1e7, 1.25e9)) == "81 to 1,250" and rates(Interval(4.1e6, float("inf"))) == "4.1 or more"
