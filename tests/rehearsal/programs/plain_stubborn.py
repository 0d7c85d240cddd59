"""A sum that ignores SIGTERM, as a program does that was started in the background by an old shell."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
path = "/opt/ml/checkpoints/sum.txt"
step, total = 0, 0.0
if os.path.exists(path):
    with open(path) as file:
        words = file.read().split()
    step, total = int(words[0]), float(words[1])
while step < 120:
    step += 1
    total += 1 / step
    time.sleep(0.01)
    if step % 12 == 0:
        with open(path + ".tmp", "w") as file:
            file.write(f"{step} {total!r}")
        os.replace(path + ".tmp", path)
        print(f"step {step} loss={total:.5f}", flush=True)
with open(os.environ["SM_MODEL_DIR"] + "/sum.txt", "w") as file:
    file.write(repr(total))
