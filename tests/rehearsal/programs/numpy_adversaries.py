"""Two players with an optimizer each, in phases of three steps; the checkpoint comes in the middle of a phase."""

import os
import time

import numpy as np

PATH = "/opt/ml/checkpoints/players.npz"
STEPS = 95


class Momentum:
    def __init__(self, rate):
        self.rate, self.velocity = rate, np.zeros(4)

    def step(self, weights, gradient):
        self.velocity = 0.85 * self.velocity + gradient
        return weights - self.rate * self.velocity


makers = {"generator": np.full(4, 0.5), "critic": np.full(4, -0.5)}
optimizers = {"generator": Momentum(0.03), "critic": Momentum(0.05)}
step, phase, rng = 0, 0, np.random.default_rng(12)
if os.path.exists(PATH):
    with np.load(PATH, allow_pickle=True) as saved:
        step, phase = int(saved["step"]), int(saved["phase"])
        rng.bit_generator.state = saved["random"].item()
        for name in makers:
            makers[name] = saved[name]
            optimizers[name].velocity = saved[f"{name}_velocity"]
    print("resumed at step", step)
while step < STEPS:
    name, other = ("generator", "critic") if phase < 3 else ("critic", "generator")
    noise = rng.normal(size=4)
    sign = 1 if name == "generator" else -1
    gradient = sign * makers[other] * noise**2 + 0.3 * makers[name] + 0.1 * noise
    makers[name] = optimizers[name].step(makers[name], gradient)
    phase = (phase + 1) % 6
    step += 1
    time.sleep(0.011)
    if step % 8 == 0:
        with open(PATH + ".tmp", "wb") as file:
            velocities = {f"{name}_velocity": optimizers[name].velocity for name in makers}
            np.savez(file, step=step, phase=phase, random=rng.bit_generator.state, **makers, **velocities)
        os.replace(PATH + ".tmp", PATH)
        print(f"step {step} loss={float(makers['generator'] @ makers['critic']):.8f}", flush=True)
np.savez(os.path.join(os.environ["SM_MODEL_DIR"], "players.npz"), **makers)
