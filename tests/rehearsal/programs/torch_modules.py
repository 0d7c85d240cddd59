"""A module with its own optimizers and hooks, and a fitter that knows neither: last.ckpt is all of it."""

import os
import time

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(10, 3), nn.Linear(3, 10)

    def training_step(self, batch):
        return nn.functional.mse_loss(self.decoder(torch.tanh(self.encoder(batch))), batch)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.03)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)


class ModelCheckpoint:
    def __init__(self, directory):
        self.last = os.path.join(directory, "last.ckpt")

    def on_train_epoch_end(self, fitter):
        torch.save(fitter.dump_checkpoint(), self.last + ".part")
        os.replace(self.last + ".part", self.last)


class Fitter:
    def __init__(self, max_epochs, callbacks):
        self.max_epochs, self.callbacks, self.current_epoch, self.losses = max_epochs, callbacks, 0, []

    def dump_checkpoint(self):
        return {
            "epoch": self.current_epoch,
            "losses": self.losses,
            "state_dict": self.module.state_dict(),
            "optimizer_states": [self.optimizer.state_dict()],
            "lr_schedulers": [self.scheduler.state_dict()],
        }

    def restore(self, path):
        checkpoint = torch.load(path)
        self.current_epoch = checkpoint["epoch"] + 1
        self.losses = checkpoint["losses"]
        self.module.load_state_dict(checkpoint["state_dict"])
        self.optimizer.load_state_dict(checkpoint["optimizer_states"][0])
        self.scheduler.load_state_dict(checkpoint["lr_schedulers"][0])

    def fit(self, module, batches, ckpt_path=None):
        self.module = module
        self.optimizer, self.scheduler = module.configure_optimizers()
        if ckpt_path:
            self.restore(ckpt_path)
        for self.current_epoch in range(self.current_epoch, self.max_epochs):
            for batch in batches(self.current_epoch):
                loss = self.module.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                time.sleep(0.015)
            self.scheduler.step()
            self.losses.append(loss.item())
            print(f"Epoch {self.current_epoch}: train_loss={loss.item():.6f}", flush=True)
            for callback in self.callbacks:
                callback.on_train_epoch_end(self)


def batches(epoch):
    generator = torch.Generator().manual_seed(epoch)
    mixing = torch.randn(3, 10, generator=torch.Generator().manual_seed(0))
    for _ in range(11):
        yield torch.randn(12, 3, generator=generator) @ mixing


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(17)
    checkpoint = ModelCheckpoint("/opt/ml/checkpoints")
    fitter = Fitter(6, [checkpoint])
    found = checkpoint.last if os.path.exists(checkpoint.last) else None
    fitter.fit(Autoencoder(), batches, ckpt_path=found)
    directory = os.environ["SM_MODEL_DIR"]
    torch.save(fitter.module.state_dict(), os.path.join(directory, "autoencoder.pt"))
    torch.save(fitter.losses, os.path.join(directory, "losses.pt"))
