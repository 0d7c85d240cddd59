"""A running mean that keeps a checkpoint of every step, a thousand in the end."""

import os
import struct
import time

ROOT = "/opt/ml/checkpoints/steps"
os.makedirs(ROOT, exist_ok=True)


def value(step):
    return ((step * 2654435761) % 1000) / 1000


mean, last = 0.0, -1
names = sorted(name for name in os.listdir(ROOT) if name.endswith(".bin"))
if names:
    last = int(names[-1][:-4])
    with open(os.path.join(ROOT, names[-1]), "rb") as file:
        (mean,) = struct.unpack("<d", file.read())
    print("found", len(names), "checkpoints")
for step in range(last + 1, 1000):
    mean = 0.99 * mean + 0.01 * value(step)
    path = os.path.join(ROOT, "%06d" % step)
    with open(path, "wb") as file:
        file.write(struct.pack("<d", mean))
    os.rename(path, path + ".bin")
    time.sleep(0.0015)
    if step % 100 == 99:
        print("step %d mean=%.6f" % (step + 1, mean), flush=True)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "mean.bin"), "wb") as file:
    file.write(struct.pack("<d", mean))
