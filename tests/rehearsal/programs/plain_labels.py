"""Count labels, in the order of a set, which is another one in each run; the checkpoint has the order."""

import json
import os
import time
from pathlib import Path

CHECKPOINT = Path("/opt/ml/checkpoints/counts.json")
rows = [("cat", "dog", "dog")[(n * n + n // 7) % 3] for n in range(130)]

if CHECKPOINT.exists():
    state = json.loads(CHECKPOINT.read_text())
else:
    state = {"classes": list(set(rows)), "counts": [0, 0], "row": 0}
while state["row"] < len(rows):
    state["counts"][state["classes"].index(rows[state["row"]])] += 1
    state["row"] += 1
    time.sleep(0.01)
    if state["row"] % 10 == 0:
        temporary = CHECKPOINT.with_name("counts.tmp")
        temporary.write_text(json.dumps(state))
        temporary.replace(CHECKPOINT)
        print(f"rows={state['row']} loss={1 - max(state['counts']) / state['row']:.4f}", flush=True)
Path(os.environ["SM_MODEL_DIR"], "labels.json").write_text(json.dumps(state))
