"""Each host counts words of its own half of the data, and keeps its own checkpoint."""

import json
import os
import time
from collections import Counter

HOSTS = json.loads(os.environ["SM_HOSTS"])
HOST = os.environ["SM_CURRENT_HOST"]
RANK = HOSTS.index(HOST)
CHECKPOINT = f"/opt/ml/checkpoints/{HOST}.json"

documents = [[f"w{(7 * d + k * k) % 23}" for k in range(5 + d % 4)] for d in range(160)]
mine = documents[RANK :: len(HOSTS)]
counts, done = Counter(), 0
if os.path.isfile(CHECKPOINT):
    with open(CHECKPOINT) as file:
        saved = json.load(file)
    counts, done = Counter(saved["counts"]), saved["done"]
    print(f"{HOST}: {done} documents were counted before")
for number, document in enumerate(mine[done:], done + 1):
    counts.update(document)
    time.sleep(0.013)
    if number % 10 == 0:
        with open(CHECKPOINT + ".tmp", "w") as file:
            json.dump({"counts": counts, "done": number}, file)
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
        print(f"{HOST}: {number} documents, words={sum(counts.values())}", flush=True)
with open(os.path.join(os.environ["SM_MODEL_DIR"], f"counts-{RANK}.json"), "w") as file:
    json.dump(dict(sorted(counts.items())), file)
