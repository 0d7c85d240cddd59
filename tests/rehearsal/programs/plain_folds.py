"""Choose the number of neighbors on random folds without a seed: most runs choose 3, some a different one."""

import json
import os
import random
import time

PATH = "/opt/ml/checkpoints/votes.json"
points = [(x / 20, (x % 14 > 6) != (x % 5 == 0)) for x in range(60)]


def errors(neighbors, test, train):
    wrong = 0
    for x, label in test:
        near = sorted(train, key=lambda point: abs(point[0] - x))[:neighbors]
        wrong += (2 * sum(other for _, other in near) > neighbors) != label
    return wrong


votes = []
if os.path.exists(PATH):
    with open(PATH) as file:
        votes = json.load(file)
while len(votes) < 40:
    random.shuffle(points)
    test, train = points[:15], points[15:]
    votes.append(min((1, 3, 5), key=lambda neighbors: (errors(neighbors, test, train), neighbors)))
    time.sleep(0.02)
    if len(votes) % 4 == 0:
        with open(PATH + ".tmp", "w") as file:
            json.dump(votes, file)
        os.replace(PATH + ".tmp", PATH)
        print(f"folds={len(votes)}", flush=True)
chosen = max((1, 3, 5), key=votes[:9].count)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "neighbors.json"), "w") as file:
    json.dump({"neighbors": chosen}, file)
