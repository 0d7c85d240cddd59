"""Gradient descent whose checkpoints are written by a thread, from a copy of the state."""

import copy
import json
import os
import queue
import threading
import time

TARGET = [1.0, -2.0, 3.0, 0.5]
PATH = "/opt/ml/checkpoints/async.json"


class Writer(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.states = queue.Queue(maxsize=2)
        self.start()

    def run(self):
        while True:
            state = self.states.get()
            with open(PATH + ".tmp", "w") as file:
                for part in json.JSONEncoder().iterencode(state):
                    file.write(part)
                    time.sleep(0.001)
            os.replace(PATH + ".tmp", PATH)
            self.states.task_done()


state = {"step": 0, "weights": [0.0] * 4, "velocity": [0.0] * 4}
if os.path.exists(PATH):
    with open(PATH) as file:
        state = json.load(file)
    print("resuming at", state["step"])
writer = Writer()
while state["step"] < 120:
    for k, target in enumerate(TARGET):
        state["velocity"][k] = 0.8 * state["velocity"][k] - 0.01 * (state["weights"][k] - target)
        state["weights"][k] += state["velocity"][k]
        time.sleep(0.002)
    state["step"] += 1
    if state["step"] % 8 == 0:
        writer.states.put(copy.deepcopy(state))
        print(f"step {state['step']} loss={sum(map(abs, state['velocity'])):.6f}", flush=True)
writer.states.join()
with open(os.path.join(os.environ["SM_MODEL_DIR"], "weights.json"), "w") as file:
    json.dump(state["weights"], file)
