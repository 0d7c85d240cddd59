"""Newton's method on many roots: it logs a lot before its first checkpoint, on stdout and stderr."""

import json
import logging
import os
import sys
import time

logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
logger = logging.getLogger("roots")
CHECKPOINT = os.path.join("/opt/ml/checkpoints", "roots.json")

roots = []
if os.path.exists(CHECKPOINT):
    with open(CHECKPOINT) as file:
        roots = json.load(file)
for key, value in sorted(os.environ.items()):
    if key.startswith("SM_"):
        logger.info("%s=%s", key, value)
for number in range(40):
    print(f"warming up {number} of 40", flush=True)
    time.sleep(0.002)
for number in range(len(roots) + 1, 61):
    estimate = float(number)
    for _ in range(3):
        estimate = (estimate + number / estimate) / 2
        time.sleep(0.005)
    roots.append(estimate)
    logger.info("root %d loss=%.6f", number, abs(estimate * estimate - number))
    if number % 6 == 0:
        with open(CHECKPOINT + ".tmp", "w") as file:
            json.dump(roots, file)
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "roots.json"), "w") as file:
    json.dump(roots, file)
