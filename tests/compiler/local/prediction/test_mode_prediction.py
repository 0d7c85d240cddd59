"""The prediction of each input mode for a whole job."""

import json

from hypothesis import given
from hypothesis import strategies as st

from smspec.local.prediction.host_limits import HostLimits
from smspec.local.prediction.job_data import JobChannel, JobData
from smspec.local.prediction.prediction import (
    HEAD,
    Prediction,
    WaitPrice,
    money,
    predicted_modes,
    prediction_lines,
    rates,
    rows,
    times,
)
from smspec.local.prediction.reading import Reading, Scenario
from smspec.local.prediction.s3_service import Interval
from smspec.local.running.training_request import TrainingRequest

HOST = HostLimits(network=Interval(1e8, 1e8), disk=Interval(1e8, 1e8), capacity=50 << 30, memory=None)


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


def reading(per_byte=1e-8, passes=2.0, rest=10.0):
    scenario = Scenario(host="algo-1", per_byte=per_byte, passes={"train": passes}, rest=rest)
    return Reading(scenarios=(scenario,), notes=())


def by_mode(data, seen=None):
    return {mode.mode: mode for mode in predicted_modes(data, seen)}


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
        "ml.m5.large": HostLimits(network=Interval(1e9, 1e9), disk=None, capacity=10**13, memory=None),
        "ml.g5.xlarge": HostLimits(network=Interval(1e7, 1e7), disk=None, capacity=10**10, memory=None),
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
    assert impossible.wait is impossible.disk is impossible.total is None


def test_shared_fifo_is_a_caution_where_it_is_new():
    new, known = by_mode(job(readers="2 processes")), by_mode(job(readers="2 processes", mode="Pipe"))
    assert new["Pipe"].caution == "2 processes of a host must not share a FIFO"
    assert known["Pipe"].caution == new["File"].caution == ""


def test_unmeasured_script_leaves_its_time_open():
    found = by_mode(job())
    assert all(mode.total is mode.one_pass is mode.rate is None for mode in found.values())
    assert all(mode.wait and mode.source for mode in found.values())


def test_time_of_a_job_adds_up():
    """10 GB twice at 100 MB/s of computing and of the network: 200 s at once or 400 s in turn, and 10 s of imports."""
    streamed = by_mode(job(objects=None), reading())["Pipe"]
    assert streamed.one_pass == Interval(100.0, 200.0)
    assert streamed.total == Interval(210.02, 411.8)
    assert streamed.rate == Interval(5e7, 1e8)
    copied = by_mode(job(objects=None), reading())["File"]
    assert copied.total.most == copied.wait.most + 410.0


@given(st.floats(1e-12, 1e-3), st.floats(0, 50), st.floats(0, 1e5), st.integers(1, 10**13), st.integers(1, 10**13))
def test_predictions_grow_with_the_data(per_byte, passes, rest, size, other):
    small, large = sorted([size, other])
    seen = reading(per_byte, passes, rest)
    before, after = by_mode(job(small), seen), by_mode(job(large), seen)
    for mode in before:
        for name in ("wait", "one_pass", "total"):
            one, two = getattr(before[mode], name), getattr(after[mode], name)
            assert one.least <= one.most and one.least <= two.least and one.most <= two.most


def test_several_explanations_widen_the_prediction():
    one, two = reading(rest=1.0).scenarios[0], reading(per_byte=1e-7).scenarios[0]
    both = by_mode(job(), Reading(scenarios=(one, two), notes=()))["Pipe"].total
    each = [by_mode(job(), Reading(scenarios=(only,), notes=()))["Pipe"].total for only in (one, two)]
    assert both == Interval(min(total.least for total in each), max(total.most for total in each))


def test_mixed_modes_have_a_row_of_their_own():
    other = {"ChannelName": "test", "InputMode": "Pipe", "DataSource": {"S3DataSource": {"S3Uri": "s3://b/y/"}}}
    found = predicted_modes(job(more=(other,)), None)
    assert [(mode.mode, mode.is_of_spec) for mode in found] == [
        ("", True),
        ("File", False),
        ("FastFile", False),
        ("Pipe", False),
    ]
    assert (found[0].disk, found[1].disk) == (10**10, 2 * 10**10)


def test_json_has_units_and_no_infinity():
    """A script that may have only waited has no highest rate: null."""
    seen = Reading(scenarios=(*reading().scenarios, *reading(per_byte=0.0).scenarios), notes=())
    price = WaitPrice(per_hour=36.0, currency="USD", as_of="")
    found = Prediction(
        is_expected=True,
        instances={"ml.m5.large": 1},
        data=10**10,
        modes=predicted_modes(job(), seen),
        reading=seen,
        max_runtime=205,
        price=price,
    )
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["script_bytes_per_second"] == [1e8, None]
    copied, _, streamed = document["modes"]
    assert copied["wait_cost"] == [round(seconds / 100, 6) for seconds in copied["wait_seconds"]]
    assert streamed["exceeds_max_runtime"] == "yes" and copied["exceeds_max_runtime"] == "possibly"
    lines = prediction_lines(found, verbose=False)
    assert lines[0] == "prediction for 1 × ml.m5.large with 10 GB"
    assert "$1.00 to $1.02" in lines[2] and "longer than `stopping.max_runtime`" in lines[2]
    assert all(len(row) == len(HEAD) + 1 for row in rows(found))


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
    assert money(Interval(1.2, 3.4), "USD") == "$1.20 to $3.40" and money(Interval(1, 1), "CNY") == "CNY 1.00"
