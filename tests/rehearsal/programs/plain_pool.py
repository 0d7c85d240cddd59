"""Fit one line per group with a pool of processes; the results so far are the checkpoint."""

import json
import multiprocessing
import os
import random
import time

CHECKPOINT = "/opt/ml/checkpoints/groups.json"


def fit(group):
    rng = random.Random(group)
    points = [(x / 10, 2 * x / 10 + group + rng.gauss(0, 0.2)) for x in range(10)]
    slope = intercept = 0.0
    for _ in range(5):
        for x, y in points:
            error = slope * x + intercept - y
            slope, intercept = slope - 0.1 * error * x, intercept - 0.1 * error
        time.sleep(0.01)
    return group, slope, intercept


def main():
    results = {}
    if os.path.exists(CHECKPOINT):
        with open(CHECKPOINT) as file:
            results = json.load(file)
    missing = [group for group in range(50) if str(group) not in results]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for group, slope, intercept in pool.imap_unordered(fit, missing):
            results[str(group)] = [slope, intercept]
            if len(results) % 5 == 0:
                with open(CHECKPOINT + ".tmp", "w") as file:
                    json.dump(results, file)
                os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
                print(f"{len(results)} groups", flush=True)
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "groups.json"), "w") as file:
        json.dump(dict(sorted(results.items())), file)


if __name__ == "__main__":
    main()
