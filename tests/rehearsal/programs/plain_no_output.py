import json
import os
import time

path = "/opt/ml/checkpoints/s"
s = [0, 1.0]
if os.path.exists(path):
    s = json.load(open(path))
while s[0] < 100:
    s = [s[0] + 1, s[1] + 1 / (s[0] + s[1])]
    time.sleep(0.01)
    if s[0] % 10 == 0:
        with open(path + "_", "w") as f:
            json.dump(s, f)
        os.replace(path + "_", path)
with open(os.environ["SM_MODEL_DIR"] + "/m", "w") as f:
    json.dump(s, f)
