"""A bandit that saves when enough time has passed, and writes times into its log and its model."""

import datetime
import json
import os
import random
import sys
import time
import uuid

SAVE_EVERY = 0.15  # Seconds.
DIRECTORY = (
    sys.argv[sys.argv.index("--checkpoints") + 1]
    if "--checkpoints" in sys.argv
    else os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/checkpoints"
)
STEPS = 400


def log(message):
    print(f"{datetime.datetime.now().isoformat()} pid={os.getpid()} {message}", flush=True)


def decode_random(value):
    return value[0], tuple(value[1]), value[2]


began = time.time()
rates = [0.2, 0.35, 0.5, 0.65]
pulls, wins = [0] * 4, [0] * 4
rng = random.Random(99)
step = 0
path = os.path.join(DIRECTORY, "bandit.json")
if os.path.exists(path):
    with open(path) as file:
        state = json.load(file)
    step, pulls, wins = state["step"], state["pulls"], state["wins"]
    rng.setstate(decode_random(state["random"]))
    log(f"resumed at step {step}, saved at {state['saved_at']}")

saved = time.monotonic()
while step < STEPS:
    greedy = max(range(4), key=lambda arm: (wins[arm] + 1) / (pulls[arm] + 2))
    arm = rng.randrange(4) if rng.random() < 0.2 else greedy
    pulls[arm] += 1
    wins[arm] += rng.random() < rates[arm]
    step += 1
    time.sleep(0.003)
    if time.monotonic() - saved > SAVE_EVERY:
        state = {"step": step, "pulls": pulls, "wins": wins, "random": rng.getstate(), "saved_at": time.time()}
        with open(path + ".tmp", "w") as file:
            json.dump(state, file)
        os.replace(path + ".tmp", path)
        saved = time.monotonic()
        log(f"step {step}: {step / (time.time() - began):.1f} steps/s, regret={0.65 * step - sum(wins):.3f}")

with open(os.path.join(os.environ["SM_MODEL_DIR"], "bandit.json"), "w") as file:
    model = {
        "run_id": str(uuid.uuid4()),
        "trained_at": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "training_seconds": time.time() - began,
        "pulls": pulls,
        "wins": wins,
    }
    json.dump(model, file, indent=2)
log("done")
