"""Worker processes augment the data, each with a generator of its epoch and number; the main process trains."""

import json
import multiprocessing
import os
import random
import time

PATH = "/opt/ml/checkpoints/epoch.json"
EPOCHS, WORKERS, ROWS = 9, 2, 12


def augment(epoch, worker, queue):
    rng = random.Random(1000 * epoch + worker)
    for row in range(worker, ROWS, WORKERS):
        x = row / ROWS + rng.gauss(0, 0.05)
        time.sleep(0.01)
        queue.put((row, x, 3 * x - 1 + rng.gauss(0, 0.02)))


def batch(epoch):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [context.Process(target=augment, args=(epoch, worker, queue)) for worker in range(WORKERS)]
    for worker in workers:
        worker.start()
    rows = sorted(queue.get(timeout=60) for _ in range(ROWS))
    for worker in workers:
        worker.join()
    return rows


if __name__ == "__main__":
    epoch, slope, bias = 0, 0.0, 0.0
    if os.path.exists(PATH):
        with open(PATH) as file:
            epoch, slope, bias = json.load(file)
    while epoch < EPOCHS:
        total = 0.0
        for _, x, y in batch(epoch):
            error = slope * x + bias - y
            slope, bias = slope - 0.3 * error * x, bias - 0.3 * error
            total += error * error
        epoch += 1
        with open(PATH + ".tmp", "w") as file:
            json.dump([epoch, slope, bias], file)
        os.replace(PATH + ".tmp", PATH)
        print(f"epoch {epoch} loss={total / ROWS:.8f}", flush=True)
        time.sleep(0.03)
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "line.json"), "w") as file:
        json.dump({"slope": slope, "bias": bias}, file)
