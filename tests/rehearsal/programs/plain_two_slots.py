"""Smooth a series; two slots are written in turn and in place, and the newest with a right checksum counts."""

import json
import os
import time
import zlib

BASE = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
SLOTS = [f"{BASE}/checkpoints/slot-a", f"{BASE}/checkpoints/slot-b"]
ROUNDS = 60


def read_slot(path):
    try:
        with open(path, encoding="ascii") as file:
            checksum, _, body = file.read().partition("\n")
    except FileNotFoundError:
        return None
    if not checksum or int(checksum, 16) != zlib.crc32(body.encode()):
        print(f"{path} is damaged, ignoring it")
        return None
    return json.loads(body)


def write_slot(path, state):
    body = json.dumps(state)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{zlib.crc32(body.encode()):08x}\n")
        for start in range(0, len(body), 400):  # A large state on a slow disk.
            file.write(body[start : start + 400])
            file.flush()
            time.sleep(0.002)


def initial():
    return {"round": 0, "values": [((17 * n) % 31) / 31 for n in range(60)]}


def main():
    states = [state for state in map(read_slot, SLOTS) if state]
    state = max(states, key=lambda state: state["round"], default=None) or initial()
    while state["round"] < ROUNDS:
        values = state["values"]
        pull = 0.3 / (1 + state["round"] / 20)
        values = [
            (1 - pull) * value + pull * (values[n - 1] + values[(n + 1) % len(values)]) / 2
            for n, value in enumerate(values)
        ]
        state = {"round": state["round"] + 1, "values": values}
        time.sleep(0.012)
        if state["round"] % 4 == 0:
            write_slot(SLOTS[state["round"] // 4 % 2], state)
            print("round", state["round"], "loss=%.6f" % max(values), flush=True)
    with open(os.environ["SM_MODEL_DIR"] + "/series.json", "w") as file:
        json.dump(state["values"], file)


main()
