"""Polynomial regression with a validation set: the best weights become the model, and training stops when they age."""

import argparse
import csv
import json
import math
import os
import random
import time

CHECKPOINTS = os.path.join(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"), "checkpoints")
STATE = os.path.join(CHECKPOINTS, "state.json")
BEST = os.path.join(CHECKPOINTS, "best.json")


def write(path, value):
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


def features(x):
    return [x**power for power in range(8)]


def mean_squared(weights, points):
    return sum((sum(w * f for w, f in zip(weights, features(x))) - y) ** 2 for x, y in points) / len(points)


def main(args):
    rng = random.Random(2)
    points = [(x, math.sin(3 * x) + rng.gauss(0, 0.45)) for x in (rng.uniform(-1, 1) for _ in range(30))]
    train, valid = points[:14], points[14:]

    weights, first, best, since_best, history = [0.0] * 8, 0, math.inf, 0, []
    if os.path.exists(STATE):
        with open(STATE) as file:
            state = json.load(file)
        weights, first = state["weights"], state["epoch"] + 1
        best, since_best, history = state["best"], state["since_best"], state["history"]

    for epoch in range(first, args.epochs):
        if since_best >= args.patience:
            print(f"no better for {since_best} epochs, stopping")
            break
        step = args.lr * (1.6 if epoch % 5 == 3 else 0.8)
        for x, y in train * 6:
            error = sum(w * f for w, f in zip(weights, features(x))) - y
            weights = [w - step * error * f for w, f in zip(weights, features(x))]
        time.sleep(0.07)
        loss = mean_squared(weights, valid) + 0.004 * epoch
        since_best += 1
        if loss < best:
            best, since_best = loss, 0
            write(BEST, {"weights": weights, "epoch": epoch})
        history.append([epoch, loss])
        print(f"epoch={epoch} loss={loss:.6f} best={best:.6f}", flush=True)
        write(
            STATE,
            {"weights": weights, "epoch": epoch, "best": best, "since_best": since_best, "history": history},
        )

    model_dir = os.environ["SM_MODEL_DIR"]
    with open(BEST) as file:
        chosen = json.load(file)
    with open(os.path.join(model_dir, "model.json"), "w") as file:
        json.dump(chosen, file)
    with open(os.path.join(model_dir, "history.csv"), "w", newline="") as file:
        csv.writer(file).writerows([["epoch", "loss"], *history])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--patience", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.08)
    main(parser.parse_args())
