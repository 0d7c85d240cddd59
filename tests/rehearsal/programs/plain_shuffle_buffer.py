"""Read a file once through a shuffle buffer; the checkpoint has the position, the buffer, and the generator."""

import json
import os
import pickle
import random
import time

DATA = os.path.join(os.environ["SM_CHANNEL_TRAIN"], "rows.txt")
CHECKPOINT = "/opt/ml/checkpoints/reader.pkl"
ROOM = 24


class Reader:
    def __init__(self):
        self.position, self.buffer, self.rng = 0, [], random.Random(9)

    def __iter__(self):
        with open(DATA) as file:
            file.seek(self.position)
            while True:
                while len(self.buffer) < ROOM and (line := file.readline()):
                    self.buffer.append(float(line))
                    self.position = file.tell()
                if not self.buffer:
                    return
                yield self.buffer.pop(self.rng.randrange(len(self.buffer)))


reader, seen, mean, rate = Reader(), 0, 0.0, 0.3
if os.path.exists(CHECKPOINT):
    with open(CHECKPOINT, "rb") as file:
        reader, seen, mean, rate = pickle.load(file)
for value in reader:
    mean += rate * (value - mean)
    rate = max(0.02, rate * 0.98)
    seen += 1
    time.sleep(0.008)
    if seen % 12 == 0:
        with open(CHECKPOINT + ".tmp", "wb") as file:
            pickle.dump((reader, seen, mean, rate), file)
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
        print(f"rows {seen} loss={abs(mean):.9f}", flush=True)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "mean.json"), "w") as file:
    json.dump({"mean": mean, "rows": seen}, file)
