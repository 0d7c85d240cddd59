"""Mini-batch k-means; a checkpoint is a directory with two arrays, renamed when it is whole."""

import os
import shutil
import time

import numpy as np

BASE = "/opt/ml/checkpoints"
BATCHES = 80


def save(number, centers, counts):
    target = os.path.join(BASE, f"batch-{number}")
    partial = target + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    np.save(os.path.join(partial, "centers.npy"), centers)
    time.sleep(0.008)  # They are large in other jobs.
    np.save(os.path.join(partial, "counts.npy"), counts)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(partial, target)


def saved_batches():
    return sorted(int(name.split("-")[1]) for name in os.listdir(BASE) if name[-1].isdigit())


def main():
    generator = np.random.default_rng(77)
    points = np.concatenate([generator.normal(loc=center, scale=0.6, size=(80, 2)) for center in (0, 2, 5)])
    centers, counts, first = points[:3].copy(), np.ones(3), 0
    if saved_batches():
        first = saved_batches()[-1]
        directory = os.path.join(BASE, f"batch-{first}")
        centers = np.load(os.path.join(directory, "centers.npy"))
        counts = np.load(os.path.join(directory, "counts.npy"))
        print("resume after batch", first)
    for number in range(first + 1, BATCHES + 1):
        batch = points[np.random.default_rng(number).integers(0, len(points), 10)]
        nearest = ((batch[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for point, k in zip(batch, nearest):
            counts[k] += 1
            centers[k] += (point - centers[k]) / counts[k]
        time.sleep(0.012)
        if number % 8 == 0:
            save(number, centers, counts)
            inertia = ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()
            print(f"batch {number}: loss={inertia:.6f}", flush=True)
    np.save(os.path.join(os.environ["SM_MODEL_DIR"], "centers.npy"), centers)


if __name__ == "__main__":
    main()
