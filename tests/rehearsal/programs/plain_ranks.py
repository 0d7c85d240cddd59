"""Two hosts average their gradients over a socket; each saves a shard, and all continue from the newest whole step."""

import json
import os
import random
import re
import socket
import time

HOSTS, HOST = json.loads(os.environ["SM_HOSTS"]), os.environ["SM_CURRENT_HOST"]
RANK = HOSTS.index(HOST)
DIRECTORY = "/opt/ml/checkpoints"
STEPS, SIZE = 80, 6


def connection():
    if RANK == 0:
        server = socket.create_server((HOST, 7000))
        server.settimeout(60)
        return server.accept()[0]
    while True:
        try:
            return socket.create_connection((HOSTS[0], 7000), 60)
        except OSError:
            time.sleep(0.02)


def exchanged(value):
    peer.sendall(json.dumps(value).encode() + b"\n")
    return json.loads(answers.readline())


def newest():
    """Return the newest step that every rank has saved."""
    found = {}
    for name in os.listdir(DIRECTORY):
        match = re.fullmatch(r"step-(\d+)-rank-(\d+)\.json", name)
        if match:
            found.setdefault(int(match[1]), set()).add(int(match[2]))
    return max((step for step, ranks in found.items() if len(ranks) == len(HOSTS)), default=0)


def path(step, rank):
    return f"{DIRECTORY}/step-{step}-rank-{rank}.json"


peer = connection()
answers = peer.makefile()
rng = random.Random(20 + RANK)
weights, velocity = [0.0] * SIZE, [0.0] * SIZE
step = newest()
if step:
    with open(path(step, RANK)) as file:
        saved = json.load(file)
    weights, velocity = saved["weights"], saved["velocity"]
    rng.setstate((saved["random"][0], tuple(saved["random"][1]), saved["random"][2]))
    print(f"{HOST} resumed at step {step}", flush=True)
if exchanged(step) != step:
    raise SystemExit("the hosts do not agree on the step")
while step < STEPS:
    sample = [rng.gauss(0, 1) for _ in range(SIZE)]
    error = sum(w * x for w, x in zip(weights, sample)) - sum((n - 2) * x for n, x in enumerate(sample))
    mine = [error * x for x in sample]
    gradient = [(a + b) / 2 for a, b in zip(mine, exchanged(mine))]
    velocity = [0.7 * v + g for v, g in zip(velocity, gradient)]
    weights = [w - 0.03 * v for w, v in zip(weights, velocity)]
    step += 1
    time.sleep(0.012)
    if step % 8 == 0:
        temporary = path(step, RANK) + ".tmp"
        with open(temporary, "w") as file:
            json.dump({"weights": weights, "velocity": velocity, "random": rng.getstate()}, file)
        os.replace(temporary, path(step, RANK))
        print(f"{HOST} step {step} loss={sum((w - n + 2) ** 2 for n, w in enumerate(weights)):.8f}", flush=True)
if RANK == 0:
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "weights.json"), "w") as file:
        json.dump(weights, file)
