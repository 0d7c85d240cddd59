"""Matrix factorization whose factors live in memory-mapped files, two copies in turn; a header says which is whole."""

import json
import os
import time

import numpy as np

DIRECTORY = "/opt/ml/checkpoints"
HEADER = os.path.join(DIRECTORY, "header.json")
ROWS, COLUMNS, RANK, STEPS = 24, 18, 3, 72


def factors(copy):
    path = os.path.join(DIRECTORY, f"factors-{copy}.dat")
    shape = (ROWS + COLUMNS, RANK)
    mode = "r+" if os.path.exists(path) else "w+"
    return np.memmap(path, dtype="float64", mode=mode, shape=shape)


truth = np.random.default_rng(1).normal(size=(ROWS, RANK)) @ np.random.default_rng(2).normal(size=(RANK, COLUMNS))
current = np.random.default_rng(3).normal(size=(ROWS + COLUMNS, RANK)) * 0.1
step, copy = 0, 0
if os.path.exists(HEADER):
    with open(HEADER) as file:
        header = json.load(file)
    step, copy = header["step"], header["copy"]
    current = np.array(factors(copy))
    print("mapped copy", copy, "of step", step)
while step < STEPS:
    order = np.random.default_rng([4, step]).permutation(ROWS * COLUMNS)[:60]
    for cell in order:
        row, column = divmod(int(cell), COLUMNS)
        left, right = current[row].copy(), current[ROWS + column].copy()
        error = left @ right - truth[row, column]
        current[row] -= 0.03 * error * right
        current[ROWS + column] -= 0.03 * error * left
    step += 1
    time.sleep(0.015)
    if step % 6 == 0:
        copy = 1 - copy
        mapped = factors(copy)
        mapped[:] = current
        mapped.flush()
        with open(HEADER + ".tmp", "w") as file:
            json.dump({"step": step, "copy": copy}, file)
        os.replace(HEADER + ".tmp", HEADER)
        print(f"step {step} loss={np.mean((current[:ROWS] @ current[ROWS:].T - truth) ** 2):.8f}", flush=True)
np.save(os.path.join(os.environ["SM_MODEL_DIR"], "factors.npy"), current)
