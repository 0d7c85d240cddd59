"""Hill climbing that keeps three checkpoints and the best one; the best becomes the model."""

import json
import os
import random
import re
import time

DIRECTORY = "/opt/ml/checkpoints"
KEEP, STEPS = 3, 110


def score(point):
    x, y = point
    return -((x - 0.7) ** 2) - 2 * (y + 0.2) ** 2 - 0.3 * abs(x * y)


def names():
    found = [name for name in os.listdir(DIRECTORY) if re.fullmatch(r"step-\d+\.json", name)]
    return sorted(found, key=lambda name: int(name[5:-5]))


def save(name, state):
    path = os.path.join(DIRECTORY, name)
    with open(path + ".tmp", "w") as file:
        json.dump(state, file)
    os.replace(path + ".tmp", path)


rng = random.Random(11)
state = {"step": 0, "point": [2.0, 2.0], "best": -1e9, "best_name": None}
if names():
    with open(os.path.join(DIRECTORY, names()[-1])) as file:
        saved = json.load(file)
    version, internal, gauss = saved.pop("random")
    rng.setstate((version, tuple(internal), gauss))
    state = saved
    print("continuing with", names()[-1])
while state["step"] < STEPS:
    swing = 0.93 + 0.1 * state["step"] / STEPS
    state["point"] = [swing * value + rng.gauss(0, 0.08) for value in state["point"]]
    state["step"] += 1
    time.sleep(0.011)
    if state["step"] % 10 == 0:
        name = f"step-{state['step']}.json"
        found = score(state["point"])
        if found > state["best"]:
            state["best"], state["best_name"] = found, name
        save(name, {**state, "random": rng.getstate()})
        for old in names()[:-KEEP]:
            if old != state["best_name"]:
                os.remove(os.path.join(DIRECTORY, old))
        print(f"step={state['step']} loss={-found:.7f}", flush=True)
with open(os.path.join(DIRECTORY, state["best_name"])) as file:
    best = json.load(file)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "best.json"), "w") as file:
    json.dump({"point": best["point"], "score": state["best"]}, file)
