"""A two-layer network with Adam and a cosine schedule after a warmup, both objects with a state."""

import math
import os
import pickle
import time

import numpy as np

EPOCHS, BATCHES, CHECKPOINTS = 7, 12, "/opt/ml/checkpoints"


class Adam:
    def __init__(self, parameters, lr):
        self.parameters, self.lr, self.t = parameters, lr, 0
        self.m = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.v = {name: np.zeros_like(value) for name, value in parameters.items()}

    def step(self, gradients):
        self.t += 1
        for name, gradient in gradients.items():
            self.m[name] = 0.9 * self.m[name] + 0.1 * gradient
            self.v[name] = 0.99 * self.v[name] + 0.01 * gradient**2
            m, v = self.m[name] / (1 - 0.9**self.t), self.v[name] / (1 - 0.99**self.t)
            self.parameters[name] -= self.lr * m / (np.sqrt(v) + 1e-8)

    def state_dict(self):
        return {"t": self.t, "m": self.m, "v": self.v}

    def load_state_dict(self, state):
        self.t, self.m, self.v = state["t"], state["m"], state["v"]


class WarmupCosine:
    def __init__(self, optimizer, peak, warmup, total):
        self.optimizer, self.peak, self.warmup, self.total, self.steps = optimizer, peak, warmup, total, 0

    def step(self):
        self.steps += 1
        if self.steps <= self.warmup:
            self.optimizer.lr = self.peak * self.steps / self.warmup
        else:
            part = (self.steps - self.warmup) / (self.total - self.warmup)
            self.optimizer.lr = self.peak * (1 + math.cos(math.pi * part)) / 2


def gradients_of(parameters, x, y):
    hidden = np.tanh(x @ parameters["w1"] + parameters["b1"])
    error = hidden @ parameters["w2"] - y
    back = error @ parameters["w2"].T * (1 - hidden**2)
    size = len(x)
    return (error**2).mean(), {
        "w1": x.T @ back / size,
        "b1": back.mean(axis=0),
        "w2": hidden.T @ error / size,
    }


def find_checkpoint():
    names = [name for name in os.listdir(CHECKPOINTS) if name.startswith("epoch-") and name.endswith(".pkl")]
    return max(names, key=lambda name: int(name[6:-4])) if names else None


def main():
    rng = np.random.default_rng(123)
    x = rng.normal(size=(BATCHES * 10, 4))
    y = np.sin(x[:, :1]) * x[:, 1:2] + 0.1 * rng.normal(size=(len(x), 1))
    parameters = {
        "w1": rng.normal(size=(4, 8)) * 0.5,
        "b1": np.zeros(8),
        "w2": rng.normal(size=(8, 1)) * 0.5,
    }
    optimizer = Adam(parameters, lr=0.0)
    schedule = WarmupCosine(optimizer, peak=0.05, warmup=20, total=EPOCHS * BATCHES)
    start = 1
    name = find_checkpoint()
    if name:
        with open(os.path.join(CHECKPOINTS, name), "rb") as file:
            checkpoint = pickle.load(file)
        parameters.update(checkpoint["parameters"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.steps = checkpoint["schedule"]
        start = checkpoint["epoch"] + 1
        print(f"loaded {name}")
    for epoch in range(start, EPOCHS + 1):
        order = np.random.default_rng(epoch).permutation(len(x)).reshape(BATCHES, -1)
        losses = []
        for rows in order:
            schedule.step()
            loss, gradients = gradients_of(parameters, x[rows], y[rows])
            optimizer.step(gradients)
            losses.append(loss)
            time.sleep(0.012)
        checkpoint = {
            "epoch": epoch,
            "parameters": parameters,
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.steps,
        }
        path = os.path.join(CHECKPOINTS, f"epoch-{epoch}.pkl")
        with open(path + ".tmp", "wb") as file:
            pickle.dump(checkpoint, file)
        os.rename(path + ".tmp", path)
        print(f"Epoch {epoch}: lr={optimizer.lr:.5f} loss={np.mean(losses):.6f}", flush=True)
    np.savez(os.path.join(os.environ["SM_MODEL_DIR"], "network.npz"), **parameters)


main()
