"""Online classification with partial_fit; the checkpoint and the model are files of joblib, compressed."""

import os
import time

import joblib
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

CHECKPOINT = "/opt/ml/checkpoints/state.joblib"
CHUNKS = 48


def chunk(number):
    rng = np.random.default_rng([8, number])
    x = rng.normal(size=(30, 6)) * [1, 2, 3, 1, 5, 1] + 0.01 * number
    return x, (x @ [1, -1, 0.5, 0, 0.2, 0.3] + rng.normal(size=30) > 0).astype(int)


state = {
    "chunk": 0,
    "scaler": StandardScaler(),
    "model": SGDClassifier(loss="log_loss", learning_rate="invscaling", eta0=0.1, average=True, random_state=3),
    "right": 0,
}
if os.path.exists(CHECKPOINT):
    state = joblib.load(CHECKPOINT)
    print("resumed at chunk", state["chunk"])
for number in range(state["chunk"], CHUNKS):
    x, y = chunk(number)
    scaled = state["scaler"].partial_fit(x).transform(x)
    if number:
        state["right"] += int((state["model"].predict(scaled) == y).sum())
    state["model"].partial_fit(scaled, y, classes=[0, 1])
    state["chunk"] = number + 1
    time.sleep(0.02)
    if number % 4 == 3:
        joblib.dump(state, CHECKPOINT + ".tmp", compress=3)
        os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
        print(f"chunk {number + 1} progressive_accuracy={state['right'] / (30 * (number + 1)):.4f}", flush=True)
joblib.dump((state["scaler"], state["model"]), os.path.join(os.environ["SM_MODEL_DIR"], "model.joblib"), compress=3)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "report.txt"), "w") as file:
    file.write(f"right answers before training: {state['right']} of {30 * (CHUNKS - 1)}\n")
