"""Fit a plane with stochastic gradient descent; one JSON file per job, replaced after each epoch."""

import argparse
import json
import os
import random
import time

CHECKPOINT = os.path.join(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"), "checkpoints/checkpoint.json")


def make_samples(count):
    rng = random.Random(7)
    rows = [[rng.uniform(-1, 1) for _ in range(4)] for _ in range(count)]
    return [(row, 1.5 * row[0] - 2 * row[1] + 0.5 * row[3] + rng.gauss(0, 0.1)) for row in rows]


def load_checkpoint():
    if not os.path.exists(CHECKPOINT):
        return {"epoch": 0, "weights": [0.0] * 4}
    with open(CHECKPOINT) as file:
        return json.load(file)


def save_checkpoint(state):
    with open(CHECKPOINT + ".tmp", "w") as file:
        json.dump(state, file)
    os.replace(CHECKPOINT + ".tmp", CHECKPOINT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    samples = make_samples(64)
    state = load_checkpoint()
    weights = state["weights"]
    start = state["epoch"]
    if start:
        print(f"resuming after epoch {start}")
    for epoch in range(start, args.epochs):
        order = list(range(len(samples)))
        random.Random(epoch).shuffle(order)
        total = 0.0
        for number, index in enumerate(order):
            row, target = samples[index]
            error = sum(w * x for w, x in zip(weights, row)) - target
            weights = [w - args.lr * error * x for w, x in zip(weights, row)]
            total += error * error
            if number % 8 == 0:
                time.sleep(0.012)  # Stands for the work of a batch.
        print(f"epoch={epoch} loss={total / len(samples):.6f}", flush=True)
        save_checkpoint({"epoch": epoch + 1, "weights": weights})

    with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.json"), "w") as file:
        json.dump({"weights": weights}, file)


if __name__ == "__main__":
    main()
