"""Fit y = a x + b with MPI: every process reads its share of the points, and the gradients are summed."""

import argparse
import csv
import json
import os

from mpi4py import MPI


def read(directory):
    """Return [(x, y)] of every CSV file of a channel."""
    points = []
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), newline="") as file:
            points += [(float(x), float(y)) for x, y in csv.reader(file)]
    return points


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    world = MPI.COMM_WORLD
    points = read(os.environ["SM_CHANNEL_TRAIN"])
    own = points[world.rank :: world.size]
    a = b = 0.0
    for epoch in range(args.epochs):
        misses = [(a * x + b - y, x) for x, y in own]
        slope_a = world.allreduce(2 * sum(miss * x for miss, x in misses)) / len(points)
        slope_b = world.allreduce(2 * sum(miss for miss, _ in misses)) / len(points)
        loss = world.allreduce(sum(miss * miss for miss, _ in misses)) / len(points)
        a, b = a - args.lr * slope_a, b - args.lr * slope_b
        if world.rank == 0 and (epoch % 50 == 0 or epoch == args.epochs - 1):
            print("epoch={} loss={:.6f}".format(epoch, loss), flush=True)

    if world.rank == 0:
        # SageMaker packs what is in SM_MODEL_DIR when the script ends into model.tar.gz.
        with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.json"), "w") as file:
            json.dump({"a": a, "b": b}, file)


if __name__ == "__main__":
    main()
