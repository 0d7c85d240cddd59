"""Online regression: running normalization of the inputs, and an average of the weights that becomes the model."""

import json
import os
import time

import numpy as np

CHECKPOINT = "/opt/ml/checkpoints/state.npz"
CHUNKS, ROWS = 90, 8


def chunk(number):
    rng = np.random.default_rng([5, number])
    x = rng.normal(loc=0.02 * number, scale=1 + 0.01 * number, size=(ROWS, 5))
    return x, x @ np.array([1.0, 0.5, 0.0, -1.0, 2.0]) + rng.normal(size=ROWS) * 0.1


class Normalizer:
    def __init__(self):
        self.count, self.mean, self.m2 = 0, np.zeros(5), np.zeros(5)

    def update(self, x):
        for row in x:
            self.count += 1
            delta = row - self.mean
            self.mean = self.mean + delta / self.count
            self.m2 = self.m2 + delta * (row - self.mean)

    def __call__(self, x):
        return (x - self.mean) / np.sqrt(self.m2 / max(self.count - 1, 1) + 1e-6)


normalizer = Normalizer()
weights, average, first = np.zeros(5), np.zeros(5), 0
if os.path.exists(CHECKPOINT):
    saved = np.load(CHECKPOINT)
    weights, average, first = saved["weights"], saved["average"], int(saved["next"])
    normalizer.count, normalizer.mean, normalizer.m2 = int(saved["count"]), saved["mean"], saved["m2"]
    print("resumed at chunk", first)
for number in range(first, CHUNKS):
    x, y = chunk(number)
    normalizer.update(x)
    error = normalizer(x) @ weights - y
    weights = weights - 0.05 * normalizer(x).T @ error / ROWS
    average = 0.98 * average + 0.02 * weights
    time.sleep(0.012)
    if number % 6 == 5:
        with open(CHECKPOINT + ".tmp", "wb") as file:
            np.savez(
                file,
                weights=weights,
                average=average,
                next=number + 1,
                count=normalizer.count,
                mean=normalizer.mean,
                m2=normalizer.m2,
            )
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
        print(f"chunk {number + 1}/{CHUNKS} loss={np.mean(error**2):.6f}", flush=True)
model_dir = os.environ["SM_MODEL_DIR"]
np.save(os.path.join(model_dir, "weights.npy"), average)
with open(os.path.join(model_dir, "normalizer.json"), "w") as file:
    json.dump({"mean": normalizer.mean.tolist(), "m2": normalizer.m2.tolist(), "count": normalizer.count}, file)
