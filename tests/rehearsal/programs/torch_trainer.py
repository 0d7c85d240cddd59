"""A trainer after Hugging Face's: checkpoint-N directories, trainer_state.json, generators, and batches to skip."""

import json
import os
import random
import re
import shutil
import time

import torch
from torch import nn


class Trainer:
    def __init__(self, output_dir, epochs=3, batch_size=8, save_steps=9, save_total_limit=2, warmup_steps=8):
        self.output_dir, self.epochs, self.batch_size = output_dir, epochs, batch_size
        self.save_steps, self.save_total_limit = save_steps, save_total_limit
        torch.manual_seed(42)
        self.x = torch.randn(200, 6)
        self.y = self.x.sin().sum(1, keepdim=True)
        self.model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Dropout(0.2), nn.Linear(12, 1))
        self.total_steps = epochs * (len(self.x) // batch_size)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.02)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda step: min((step + 1) / warmup_steps, max(0.0, 1 - step / self.total_steps)),
        )
        self.state = {"global_step": 0, "log_history": []}

    def last_checkpoint(self):
        names = [name for name in os.listdir(self.output_dir) if re.fullmatch(r"checkpoint-\d+", name)]
        names.sort(key=lambda name: int(name.split("-")[1]))
        return os.path.join(self.output_dir, names[-1]) if names else None

    def save(self):
        directory = os.path.join(self.output_dir, f"checkpoint-{self.state['global_step']}")
        staging = os.path.join(self.output_dir, "tmp-checkpoint")
        shutil.rmtree(staging, ignore_errors=True)
        os.makedirs(staging)
        torch.save(self.model.state_dict(), os.path.join(staging, "pytorch_model.bin"))
        torch.save(self.optimizer.state_dict(), os.path.join(staging, "optimizer.pt"))
        torch.save(self.scheduler.state_dict(), os.path.join(staging, "scheduler.pt"))
        rng_state = {"python": random.getstate(), "cpu": torch.get_rng_state()}
        torch.save(rng_state, os.path.join(staging, "rng_state.pth"))
        with open(os.path.join(staging, "trainer_state.json"), "w") as file:
            json.dump(self.state, file)
        shutil.rmtree(directory, ignore_errors=True)
        os.rename(staging, directory)
        names = sorted(
            (name for name in os.listdir(self.output_dir) if re.fullmatch(r"checkpoint-\d+", name)),
            key=lambda name: int(name.split("-")[1]),
        )
        for name in names[: -self.save_total_limit]:
            shutil.rmtree(os.path.join(self.output_dir, name))

    def load(self, directory):
        print("Loading", directory)
        self.model.load_state_dict(torch.load(os.path.join(directory, "pytorch_model.bin")))
        self.optimizer.load_state_dict(torch.load(os.path.join(directory, "optimizer.pt")))
        self.scheduler.load_state_dict(torch.load(os.path.join(directory, "scheduler.pt")))
        with open(os.path.join(directory, "trainer_state.json")) as file:
            self.state = json.load(file)
        rng_state = torch.load(os.path.join(directory, "rng_state.pth"), weights_only=False)
        random.setstate(rng_state["python"])
        torch.set_rng_state(rng_state["cpu"])

    def train(self):
        resumed = self.last_checkpoint()
        if resumed:
            self.load(resumed)
        per_epoch = len(self.x) // self.batch_size
        epoch, skipped = divmod(self.state["global_step"], per_epoch)
        self.model.train()
        for epoch in range(epoch, self.epochs):
            order = torch.randperm(len(self.x), generator=torch.Generator().manual_seed(epoch))
            for batch in order.split(self.batch_size)[skipped:]:
                loss = nn.functional.mse_loss(self.model(self.x[batch]), self.y[batch])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                self.state["global_step"] += 1
                time.sleep(0.013)
                if self.state["global_step"] % 3 == 0:
                    self.state["log_history"].append([self.state["global_step"], loss.item()])
                    print({"loss": round(loss.item(), 6), "step": self.state["global_step"]}, flush=True)
                if self.state["global_step"] % self.save_steps == 0:
                    self.save()
            skipped = 0

    def save_model(self, directory):
        torch.save(self.model.state_dict(), os.path.join(directory, "pytorch_model.bin"))
        with open(os.path.join(directory, "trainer_state.json"), "w") as file:
            json.dump(self.state, file)


if __name__ == "__main__":
    torch.set_num_threads(1)
    trainer = Trainer("/opt/ml/checkpoints")
    trainer.train()
    trainer.save_model(os.environ["SM_MODEL_DIR"])
