"""Successive halving: each trial appends a row to a table; a restart counts the whole rows, and cuts the rest."""

import csv
import json
import os
import random
import time

TABLE = "/opt/ml/checkpoints/trials.csv"
RUNGS, FIRST = 4, 32


def evaluate(rung, number, rate):
    rng = random.Random(f"{rung} {number}")
    time.sleep(0.014)
    return abs(rate - 0.31) / (rung + 1) + abs(rng.gauss(0, 0.2)) / 2**rung


def table():
    if not os.path.exists(TABLE):
        return []
    with open(TABLE, "rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
    with open(TABLE, newline="") as file:
        return [(int(rung), int(number), float(rate), float(loss)) for rung, number, rate, loss in csv.reader(file)]


rng = random.Random(5)
rates = {number: rng.random() for number in range(FIRST)}
done = {(rung, number): loss for rung, number, _, loss in table()}
print(f"{len(done)} trials are known", flush=True)
alive = list(rates)
with open(TABLE, "a", newline="") as file:
    writer = csv.writer(file)
    for rung in range(RUNGS):
        losses = {}
        for number in alive:
            loss = done.get((rung, number))
            if loss is None:
                loss = evaluate(rung, number, rates[number])
                writer.writerow([rung, number, rates[number], loss])
                file.flush()
                if number % 3 == 0:
                    print(f"rung {rung} trial {number} loss={loss:.7f}", flush=True)
            losses[number] = loss
        alive = sorted(losses, key=losses.get)[: max(1, len(losses) // 2)]
with open(os.path.join(os.environ["SM_MODEL_DIR"], "best.json"), "w") as file:
    json.dump({"trial": alive[0], "rate": rates[alive[0]], "loss": losses[alive[0]]}, file)
