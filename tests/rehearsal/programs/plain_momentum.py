"""Logistic regression with momentum, warmup, and a decay by global step; the state is a plain dictionary."""

import json
import math
import os
import random
import shutil
import time

HYPERPARAMETERS = json.loads(os.environ.get("SM_HPS", "{}"))
EPOCHS = HYPERPARAMETERS.get("epochs", 6)
BASE_LR = HYPERPARAMETERS.get("learning_rate", 0.2)
CHECKPOINT_DIR = HYPERPARAMETERS.get("checkpoint_dir", "/opt/ml/checkpoints")
BATCHES, WARMUP = 15, 20


def learning_rate(step):
    if step < WARMUP:
        return BASE_LR * (step + 1) / WARMUP
    return BASE_LR / math.sqrt(1 + (step - WARMUP) / 10)


def batch_of(epoch, number):
    rng = random.Random(f"{epoch}-{number}")
    rows = [[rng.gauss(0, 1) for _ in range(5)] for _ in range(6)]
    return [(row, int(row[0] - row[2] + 0.3 * rng.gauss(0, 1) > 0)) for row in rows]


def gradient(weights, batch):
    total, loss = [0.0] * len(weights), 0.0
    for row, label in batch:
        p = 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, row))))
        loss -= math.log(p if label else 1 - p)
        total = [t + (p - label) * x / len(batch) for t, x in zip(total, row)]
    return total, loss / len(batch)


def train():
    state = {"epoch": 0, "global_step": 0, "weights": [0.0] * 5, "momentum": [0.0] * 5}
    path = os.path.join(CHECKPOINT_DIR, "last.json")
    if os.path.exists(path):
        with open(path) as file:
            state.update(json.load(file))
        print("=> loaded checkpoint (epoch %d)" % state["epoch"])
    while state["epoch"] < EPOCHS:
        losses = []
        for number in range(BATCHES):
            slope, loss = gradient(state["weights"], batch_of(state["epoch"], number))
            losses.append(loss)
            state["momentum"] = [0.9 * m + g for m, g in zip(state["momentum"], slope)]
            lr = learning_rate(state["global_step"])
            state["weights"] = [w - lr * m for w, m in zip(state["weights"], state["momentum"])]
            state["global_step"] += 1
            time.sleep(0.012)
        state["epoch"] += 1
        partial = os.path.join(CHECKPOINT_DIR, "partial")
        with open(partial, "w") as file:
            json.dump(state, file)
        shutil.move(partial, path)
        print("epoch %d lr %.5f loss=%.6f" % (state["epoch"], lr, sum(losses) / len(losses)), flush=True)
    return state["weights"]


if __name__ == "__main__":
    weights = train()
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "weights.txt"), "w") as file:
        file.writelines(f"{weight!r}\n" for weight in weights)
