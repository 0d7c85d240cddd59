"""A DataLoader with worker processes, whose order comes from a generator that the checkpoint has."""

import argparse
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        x = torch.randn(4, generator=torch.Generator().manual_seed(index))
        return x, (x**2).sum().reshape(1)


def main(args):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    generator = torch.Generator()
    generator.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    path = os.path.join(args.checkpoints, "checkpoint.pt")
    start = 0
    if os.path.exists(path):
        state = torch.load(path, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        generator.set_state(state["generator"])
        start = state["epoch"]
        print(f"resuming with epoch {start}")
    loader = DataLoader(Squares(), batch_size=8, shuffle=True, num_workers=2, generator=generator)
    for epoch in range(start, args.epochs):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            time.sleep(0.012)
        print(f"epoch {epoch}: loss={total / len(loader):.6f}", flush=True)
        state = {
            "epoch": epoch + 1,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
        }
        torch.save(state, path + ".tmp")
        os.replace(path + ".tmp", path)
    torch.save(model.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--checkpoints", default="/opt/ml/checkpoints")
    main(parser.parse_args())
