"""BatchNorm, an average of the weights, and a scaler that skips steps which overflow, all in one checkpoint."""

import os
import time

import torch
from torch import nn

PATH = "/opt/ml/checkpoints/last.pt"
EPOCHS, BATCHES = 6, 10


class Scaler:
    """Scale losses; halve the scale where the scaled loss overflows, double it after steps without."""

    def __init__(self):
        self.scale, self.good = 2.0**14, 0

    def accepts(self, loss):
        if loss.item() * self.scale > 4096:
            self.scale, self.good = self.scale / 2, 0
            return False
        self.good += 1
        if self.good == 12:
            self.scale, self.good = self.scale * 2, 0
        return True

    def state_dict(self):
        return vars(self).copy()

    def load_state_dict(self, state):
        vars(self).update(state)


def batch_of(epoch, number):
    generator = torch.Generator().manual_seed(1000 * epoch + number)
    x = torch.randn(16, 5, generator=generator) * (1 + 0.1 * epoch)
    return x, (x[:, :1] - x[:, 1:2]).abs()


def evaluate(model):
    model.eval()
    with torch.no_grad():
        x, y = batch_of(99, 0)
        return nn.functional.mse_loss(model(x), y).item()


torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 1))
average = {name: value.clone() for name, value in model.state_dict().items()}
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scaler = Scaler()
first = 0
if os.path.exists(PATH):
    checkpoint = torch.load(PATH)
    model.load_state_dict(checkpoint["model"])
    average = checkpoint["average"]
    optimizer.load_state_dict(checkpoint["optimizer"])
    scaler.load_state_dict(checkpoint["scaler"])
    first = checkpoint["epoch"] + 1
    print(f"resumed, epoch {first}, loss={evaluate(model):.6f}")
for epoch in range(first, EPOCHS):
    model.train()
    for number in range(BATCHES):
        x, y = batch_of(epoch, number)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if scaler.accepts(loss):
            optimizer.step()
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                average[name].mul_(0.97).add_(value, alpha=0.03)
        time.sleep(0.015)
    checkpoint = {
        "epoch": epoch,
        "model": model.state_dict(),
        "average": average,
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
    }
    torch.save(checkpoint, PATH + ".tmp")
    os.replace(PATH + ".tmp", PATH)
    print(f"epoch {epoch} scale {scaler.scale} loss={evaluate(model):.6f}", flush=True)
torch.save({"model": model.state_dict(), "average": average}, os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
