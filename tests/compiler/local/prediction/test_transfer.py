"""How long data take to a host: more data never less, more bandwidth never more."""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from smspec.local.prediction.job_data import MODES, Share, shares
from smspec.local.prediction.limits import DOCUMENTED, HostLimits, Interval, host_limits
from smspec.local.prediction.mode_prediction import Transfer

RATES = st.tuples(st.floats(1e6, 1e10), st.floats(1e6, 1e10)).map(lambda bounds: Interval(*sorted(bounds)))
HOSTS = st.builds(
    HostLimits,
    network=RATES,
    disk=st.none() | RATES,
    capacity=st.none() | st.integers(1, 1 << 45),
)
SIZES = st.integers(1, 10**14)
OBJECTS = st.none() | st.integers(1, 10**7)
HOST = HostLimits(network=Interval(1e8, 1e9), disk=Interval(1e8, 2e8), capacity=1 << 40)


def transfer(mode, size, objects=None, host=HOST, s3=DOCUMENTED):
    return Transfer(host, s3, {"train": mode}, {"train": Share(size, objects)})


@given(SIZES | st.just(0), OBJECTS, st.integers(1, 200))
def test_shares_of_hosts_are_the_whole(size, objects, hosts):
    dealt = shares(size, objects, hosts)
    assert sum(share.bytes for share in dealt) == size
    assert len(dealt) == hosts and all(share.bytes >= 0 for share in dealt)
    if objects is not None:
        counts = [share.objects for share in dealt]
        assert sum(counts) == objects and max(counts) - min(counts) <= 1
        assert all(share.bytes == 0 for share in dealt if not share.objects)


@given(st.sampled_from(MODES), HOSTS, SIZES, SIZES, OBJECTS, OBJECTS)
def test_more_data_never_take_less_time(mode, host, size, other, objects, more):
    small, large = sorted([size, other])
    few, many = sorted([objects or 0, more or 0])
    before, after = transfer(mode, small, few, host), transfer(mode, large, many, host)
    for one, two in [(before.wait(), after.wait()), (before.read(), after.read())]:
        assert 0 <= one.least <= one.most and 0 <= two.least <= two.most
        assert one.least <= two.least and one.most <= two.most


@given(st.sampled_from(MODES), HOSTS, SIZES, OBJECTS, st.floats(1, 100))
def test_more_bandwidth_never_takes_more_time(mode, host, size, objects, factor):
    fast = replace(
        host, network=host.network.scaled(factor), disk=None if host.disk is None else host.disk.scaled(factor)
    )
    slow = transfer(mode, size, objects, host)
    quick = transfer(mode, size, objects, fast)
    for one, two in [(slow.wait(), quick.wait()), (slow.read(), quick.read())]:
        assert two.least <= one.least and two.most <= one.most


@given(HOSTS, SIZES, OBJECTS)
def test_disk_has_the_bytes_of_file_mode_only(host, size, objects):
    assert [transfer(mode, size, objects, host).disk_bytes for mode in MODES] == [size, 0, 0]


@given(st.sampled_from(MODES), HOSTS, SIZES)
def test_source_rate_is_the_bytes_by_the_seconds(mode, host, size):
    """The units agree: bytes per second times seconds are bytes."""
    found = transfer(mode, size, None, host)
    seconds, rate = found.read(), found.source_rate()
    assume(rate is not None)
    assert abs(rate.least * seconds.most - size) <= size * 1e-9
    assert seconds.least == 0 or abs(rate.most * seconds.least - size) <= size * 1e-9


def test_download_is_limited_by_the_slowest_part():
    """At best the volume, 200 MB/s; at worst the network, 100 MB/s, and 2 ms for each of 1,000 objects' rounds."""
    wait = transfer("File", 10**10, 1000).wait()
    assert wait == Interval(50.0, 100.0 + 0.2 * 100)
    fast = replace(HOST, network=Interval(1e10, 1e10), disk=None)
    assert transfer("File", 5 * 10**10, 0, fast).wait() == Interval(5.0, 300.0), "AWS's own example at worst"


def test_streams_wait_for_a_listing_or_a_first_byte():
    """A listing of three pages and one object; or at worst ten ranges of 16 MB at once, with 100 MB/s."""
    assert transfer("FastFile", 10**12, 2500).wait() == DOCUMENTED.latency.scaled(4)
    assert transfer("Pipe", 10**12, 2500).wait() == DOCUMENTED.latency + Interval(0.0, 1.6)
    assert transfer("Pipe", 1_000_000, 1).wait() == DOCUMENTED.latency + Interval(0.0, 0.01)


def test_small_objects_cost_fast_file_mode_most():
    """One after the other at worst, while SageMaker itself makes several requests at once."""
    mounted, streamed = (transfer(mode, 10**9, 10**5).read() for mode in ("FastFile", "Pipe"))
    assert mounted.most > 10**5 * DOCUMENTED.latency.most > 9 * streamed.most


def test_files_may_be_read_from_memory():
    assert transfer("File", 10**12).read() == Interval(0.0, 10**12 / HOST.disk.least)


def test_limits_of_volumes_follow_their_size():
    """A gp2 volume has 128 MiB/s up to 170 GiB, 250 MiB/s from 334 GiB; the instance may have less."""
    mebibytes = 1 << 20
    for gigabytes, bounds in {100: (128, 128), 170: (128, 128), 200: (128, 250), 334: (250, 250)}.items():
        disk = host_limits("ml.m5.24xlarge", gigabytes).disk
        assert disk == Interval(bounds[0] * mebibytes, bounds[1] * mebibytes)
    assert host_limits("ml.m5.large", 1000).disk.least == 650e6 / 8
    local = host_limits("ml.g5.xlarge", None)
    assert local.disk is None and local.capacity == 250 << 30
    assert host_limits("ml.m5.large", None).capacity is None
    assert host_limits("ml.p3.2xlarge", 100) is None and host_limits("local", 100) is None
