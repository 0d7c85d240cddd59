"""Softmax regression with NumPy: weights in an .npz, the generator's state in a JSON text inside of it."""

import argparse
import json
import os
import time

import numpy as np


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoints", default=os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/checkpoints")
    parser.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR"))
    return parser.parse_args()


def save(path, weights, epoch, history, rng):
    with open(path + ".tmp", "wb") as file:
        np.savez(file, weights=weights, epoch=epoch, history=np.array(history), rng=json.dumps(rng.bit_generator.state))
    os.replace(path + ".tmp", path)


def main():
    args = parse_args()
    data = np.random.default_rng(0)
    x = data.normal(size=(160, 6))
    y = (x @ data.normal(size=(6, 3)) + 0.3 * data.normal(size=(160, 3))).argmax(axis=1)

    rng = np.random.default_rng(args.seed)
    weights, start, history = np.zeros((6, 3)), 0, []
    path = os.path.join(args.checkpoints, "model.npz")
    if os.path.exists(path):
        with np.load(path) as saved:
            weights, start, history = saved["weights"], int(saved["epoch"]), saved["history"].tolist()
            rng.bit_generator.state = json.loads(str(saved["rng"]))
        print(f"resumed from epoch {start}")
    for epoch in range(start, args.epochs):
        order = rng.permutation(len(x))
        losses = []
        for begin in range(0, len(x), args.batch_size):
            rows = order[begin : begin + args.batch_size]
            scores = np.exp(x[rows] @ weights)
            p = scores / scores.sum(axis=1, keepdims=True)
            losses.append(-np.log(p[np.arange(len(rows)), y[rows]]).mean())
            p[np.arange(len(rows)), y[rows]] -= 1
            weights = weights - args.learning_rate * x[rows].T @ p / len(rows)
            time.sleep(0.012)
        history.append(np.mean(losses))
        print(f"epoch={epoch} loss={history[-1]:.6f}", flush=True)
        save(path, weights, epoch + 1, history, rng)
    np.savez(os.path.join(args.model_dir, "model.npz"), weights=weights, history=np.array(history))


if __name__ == "__main__":
    main()
