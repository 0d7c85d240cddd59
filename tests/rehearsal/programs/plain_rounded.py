"""A forest of thresholds without a seed; its result is rounded, so that two runs often give the same."""

import json
import os
import random
import time

PATH = "/opt/ml/checkpoints/forest.json"
points = [(x / 50, int(x > 27)) for x in range(50)]


def accuracy(votes):
    mean = sum(votes) / len(votes)
    return sum((x > mean) == bool(label) for x, label in points) / len(points)


votes = []
if os.path.exists(PATH):
    with open(PATH) as file:
        votes = json.load(file)
while len(votes) < 90:
    sample = random.choices(points, k=20)
    split = min(
        (random.random() for _ in range(8)), key=lambda split: sum((x > split) != bool(label) for x, label in sample)
    )
    votes.append(split)
    time.sleep(0.013)
    if len(votes) % 9 == 0:
        with open(PATH + ".tmp", "w") as file:
            json.dump(votes, file)
        os.replace(PATH + ".tmp", PATH)
        print(f"trees={len(votes)} accuracy={accuracy(votes):.2f}", flush=True)

with open(os.path.join(os.environ["SM_MODEL_DIR"], "forest.json"), "w") as file:
    json.dump({"trees": len(votes), "threshold": round(sum(votes) / len(votes), 2), "accuracy": accuracy(votes)}, file)
