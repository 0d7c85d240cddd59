"""Power iteration that lowers its step where the residual stops falling, and ends when it has lowered it four times."""

import os
import time

import numpy as np

PATH = os.path.join(os.environ.get("SMSPEC_CHECKPOINTS", "/opt/ml/checkpoints"), "plateau.npz")


class Plateau:
    """Halve the rate after `patience` iterations without progress."""

    def __init__(self, rate, patience):
        self.rate, self.patience, self.best, self.bad, self.reductions = rate, patience, np.inf, 0, 0

    def step(self, value):
        if value < self.best * 0.995:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            self.rate, self.bad, self.reductions = self.rate / 2, 0, self.reductions + 1


rng = np.random.default_rng(31)
matrix = rng.normal(size=(12, 12))
matrix = matrix @ matrix.T / 12
vector = np.ones(12) / np.sqrt(12)
plateau = Plateau(rate=0.9, patience=5)
iteration = 0
if os.path.exists(PATH):
    with np.load(PATH) as saved:
        vector, iteration = saved["vector"], int(saved["iteration"])
        plateau.rate, plateau.best = float(saved["rate"]), float(saved["best"])
        plateau.bad, plateau.reductions = int(saved["bad"]), int(saved["reductions"])
    print(f"continuing at {iteration} with rate {plateau.rate}")
while plateau.reductions < 4 and iteration < 150:
    noise = np.random.default_rng(iteration).normal(size=12) * 0.05 * plateau.rate
    following = matrix @ vector + noise
    vector = (1 - plateau.rate) * vector + plateau.rate * following / np.linalg.norm(following)
    vector /= np.linalg.norm(vector)
    eigenvalue = vector @ matrix @ vector
    residual = np.linalg.norm(matrix @ vector - eigenvalue * vector)
    plateau.step(residual)
    iteration += 1
    time.sleep(0.015)
    if iteration % 4 == 0:
        with open(PATH + ".tmp", "wb") as file:
            np.savez(
                file,
                vector=vector,
                iteration=iteration,
                rate=plateau.rate,
                best=plateau.best,
                bad=plateau.bad,
                reductions=plateau.reductions,
            )
        os.replace(PATH + ".tmp", PATH)
        print(f"{iteration} rate={plateau.rate} loss={residual:.6f}", flush=True)
np.savez(os.path.join(os.environ["SM_MODEL_DIR"], "vector.npz"), vector=vector, iterations=iteration)
