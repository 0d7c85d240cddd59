"""Count letters; over before anything can interrupt it."""

import json
import os
from collections import Counter

with open(os.path.join(os.environ["SM_MODEL_DIR"], "letters.json"), "w") as file:
    json.dump(Counter("managed spot training"), file)
print("loss=0.5")
