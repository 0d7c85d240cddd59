"""Fit y = a x + b with DistributedDataParallel: torchrun starts this script once per process on every host."""

import argparse
import csv
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def read(directory):
    """Return the two columns of every CSV file of a channel, each of shape (rows, 1)."""
    rows = []
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), newline="") as file:
            rows += [[float(cell) for cell in row] for row in csv.reader(file)]
    table = torch.tensor(rows)
    return table[:, :1], table[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--batch_size", type=int, default=8)
    args = parser.parse_args()

    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    device = torch.device("cuda:{}".format(os.environ["LOCAL_RANK"]) if has_gpu else "cpu")
    data = TensorDataset(*read(os.environ["SM_CHANNEL_TRAIN"]))
    sampler = DistributedSampler(data)
    model = DistributedDataParallel(torch.nn.Linear(1, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data, batch_size=args.batch_size, sampler=sampler):
            loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print("epoch={} loss={:.6f}".format(epoch, loss.item()), flush=True)

    if dist.get_rank() == 0:
        # SageMaker packs what is in SM_MODEL_DIR when the script ends into model.tar.gz.
        torch.save(model.module.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
