"""Count pairs of characters in the shards of a channel; each shard is counted once."""

import json
import os
import pickle
import time
from collections import defaultdict
from pathlib import Path

CHECKPOINT = Path("/opt/ml/checkpoints/progress.pickle")
TRAIN = Path(os.environ["SM_CHANNEL_TRAIN"])


def restore():
    if CHECKPOINT.exists():
        progress = pickle.loads(CHECKPOINT.read_bytes())
        print(f"{len(progress['done'])} shards are done")
        return progress
    return {"done": [], "counts": {}}


def store(progress):
    temporary = CHECKPOINT.with_suffix(".tmp")
    temporary.write_bytes(pickle.dumps(progress))
    temporary.rename(CHECKPOINT)


def main():
    progress = restore()
    counts = defaultdict(int, progress["counts"])
    for shard in sorted(TRAIN.iterdir()):
        if shard.name in progress["done"]:
            continue
        for line in shard.read_text().splitlines():
            for first, second in zip(line, line[1:]):
                counts[first + second] += 1
            time.sleep(0.01)
        progress = {"done": [*progress["done"], shard.name], "counts": dict(counts)}
        store(progress)
        print(f"{shard.name}: pairs={sum(counts.values())}", flush=True)
    Path(os.environ["SM_MODEL_DIR"], "bigrams.json").write_text(json.dumps(dict(counts), sort_keys=True))


main()
