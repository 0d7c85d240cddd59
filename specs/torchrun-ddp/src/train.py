"""Data-parallel regression with torch.distributed: torchrun starts one of these per process on every host."""

import argparse
import csv
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def read(directory):
    """Return features of shape (rows, 4) and targets of shape (rows, 1)."""
    rows = []
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), newline="") as file:
            rows += [[float(cell) for cell in row] for row in csv.reader(file)]
    table = torch.tensor(rows)
    return table[:, :-1], table[:, -1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--batch_size", type=int, default=16)
    args = parser.parse_args()

    torch.manual_seed(0)
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else torch.device("cpu")
    data = TensorDataset(*read(os.environ["SM_CHANNEL_TRAIN"]))
    sampler = DistributedSampler(data)
    model = DistributedDataParallel(torch.nn.Linear(4, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for features, target in DataLoader(data, batch_size=args.batch_size, sampler=sampler):
            loss = torch.nn.functional.mse_loss(model(features.to(device)), target.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.all_reduce(loss.detach_(), op=dist.ReduceOp.SUM)
        if dist.get_rank() == 0:
            print("epoch={} loss={:.6f}".format(epoch, loss.item() / dist.get_world_size()), flush=True)

    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
