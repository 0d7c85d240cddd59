"""Which entries a host gets in an epoch, and in which order."""

import hashlib
from typing import List, Optional


def order(count: int, seed: Optional[int] = None, epoch: int = 0, shard: int = 0, shards: int = 1) -> List[int]:
    """Return the indexes of the entries that are fed.

    They are shuffled first, then dealt out in turn: with ShuffleConfig and ShardedByS3Key a host gets different objects
    in each epoch (API shape ShuffleConfig). SageMaker does not publish its permutation; this one depends only on the
    seed, the epoch, and the count, so every host computes the same one, with every Python.
    """
    indexes = list(range(count))
    if seed is not None:
        indexes.sort(key=lambda index: (_draw(seed, epoch, index), index))
    return indexes[shard::shards]


def _draw(seed: int, epoch: int, index: int) -> bytes:
    return hashlib.sha256("{}:{}:{}".format(seed, epoch, index).encode()).digest()
