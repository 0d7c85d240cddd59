"""A perceptron that saves every 20 steps, with the generator, the order, and the position in the epoch."""

import argparse
import glob
import os
import pickle
import random
import time

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--save-steps", type=int, default=20)
parser.add_argument("--keep", type=int, default=3)
parser.add_argument("--checkpoint-dir", default=os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/checkpoints")
parser.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR"))
args = parser.parse_args()


class Perceptron:
    def __init__(self, size):
        self.weights = [0.0] * size
        self.bias = 0.0

    def learn(self, row, label):
        output = sum(w * x for w, x in zip(self.weights, row)) + self.bias
        miss = output * label < 0.3
        if miss:
            self.weights = [w + 0.1 * label * x for w, x in zip(self.weights, row)]
            self.bias += 0.1 * label
        return miss


def checkpoints():
    paths = glob.glob(os.path.join(args.checkpoint_dir, "step-*.pkl"))
    return sorted(paths, key=lambda path: int(path.rsplit("-", 1)[1][:-4]))


def save(model, position):
    path = os.path.join(args.checkpoint_dir, f"step-{position['step']}.pkl")
    with open(path + ".part", "wb") as file:
        pickle.dump({"model": model, "rng": random.getstate(), **position}, file)
    os.rename(path + ".part", path)
    for old in checkpoints()[: -args.keep]:
        os.remove(old)


random.seed(11)
data = []
for _ in range(40):
    row = [random.gauss(0, 1) for _ in range(6)]
    data.append((row, 1 if row[0] + row[1] * row[2] + random.gauss(0, 0.5) > 0 else -1))
order = list(range(len(data)))
model = Perceptron(6)
step, epoch, done = 0, 0, 0
if checkpoints():
    with open(checkpoints()[-1], "rb") as file:
        saved = pickle.load(file)
    model = saved["model"]
    random.setstate(saved["rng"])
    step, epoch, done, order = saved["step"], saved["epoch"], saved["done"], saved["order"]
    print("found", checkpoints()[-1], "at step", step)

while epoch < args.epochs:
    if done == 0:
        random.shuffle(order)
    for index in order[done:]:
        row, label = data[index]
        noisy = [x + random.gauss(0, 0.05) for x in row]
        missed = model.learn(noisy, label)
        step += 1
        done += 1
        time.sleep(0.007)
        if step % args.save_steps == 0:
            save(model, {"step": step, "epoch": epoch, "done": done, "order": order})
            print(f"[{step:4d}] loss={sum(map(abs, model.weights)):.5f}", flush=True)
    epoch, done = epoch + 1, 0

with open(os.path.join(args.model_dir, "model.pkl"), "wb") as file:
    pickle.dump(vars(model), file)
