"""Distribution of objects over hosts and epochs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smspec.local.feeder.entries import order

COUNTS = st.integers(0, 60)
SHARDS = st.integers(1, 9)
SEEDS = st.one_of(st.none(), st.integers(0, 2**63 - 1))


@given(COUNTS, SHARDS, SEEDS, st.integers(0, 5))
def test_shards_partition_the_entries(count, shards, seed, epoch):
    parts = [order(count, seed, epoch, shard, shards) for shard in range(shards)]
    assert sorted(index for part in parts for index in part) == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(COUNTS, st.integers(0, 2**63 - 1), st.integers(0, 5))
def test_seed_gives_one_order(count, seed, epoch):
    assert order(count, seed, epoch) == order(count, seed, epoch)
    assert sorted(order(count, seed, epoch)) == list(range(count))


@given(COUNTS, SHARDS, st.integers(0, 5))
def test_epochs_without_a_seed_keep_their_order(count, shards, epoch):
    assert order(count, None, epoch, 0, shards) == list(range(0, count, shards))


def test_shuffled_shards_change_hosts():
    """With ShuffleConfig and ShardedByS3Key a host gets other objects in the second epoch."""
    assert set(order(40, 17, 0, 0, 2)) != set(order(40, 17, 1, 0, 2))


def test_order_of_a_seed_is_fixed():
    """The order must not change with the version of Python or smspec: a run is repeated by its seed."""
    assert order(6, 17, 0) == [2, 5, 3, 0, 1, 4]
