"""The usual PyTorch script: epochs, SGD with momentum, StepLR, checkpoint.pth.tar, and model_best.pth.tar."""

import argparse
import os
import shutil
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=7)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--lr", type=float, default=0.2)
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--checkpoint-dir", default="/opt/ml/checkpoints")
args = parser.parse_args()


def save_checkpoint(state, is_best):
    path = os.path.join(args.checkpoint_dir, "checkpoint.pth.tar")
    torch.save(state, path + ".tmp")
    if is_best:  # before the checkpoint, which knows the accuracy of the best model: the job may be killed in between
        best = os.path.join(args.checkpoint_dir, "model_best.pth.tar")
        shutil.copyfile(path + ".tmp", best + ".tmp")
        os.replace(best + ".tmp", best)
    os.replace(path + ".tmp", path)


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x = torch.randn(240, 8)
    y = (x[:, 0] * x[:, 1] + 0.7 * torch.randn(240) > 0).long()
    train_set, valid_x, valid_y = TensorDataset(x[:160], y[:160]), x[160:], y[160:]
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    start_epoch, best_acc1 = 0, 0.0

    resume = os.path.join(args.checkpoint_dir, "checkpoint.pth.tar")
    if os.path.isfile(resume):
        print(f"=> loading checkpoint '{resume}'")
        checkpoint = torch.load(resume, weights_only=True)
        start_epoch = checkpoint["epoch"]
        best_acc1 = checkpoint["best_acc1"]
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        print(f"=> loaded checkpoint (epoch {start_epoch})")

    for epoch in range(start_epoch, args.epochs):
        generator = torch.Generator().manual_seed(args.seed + epoch)
        model.train()
        total = 0.0
        for images, target in DataLoader(train_set, args.batch_size, shuffle=True, generator=generator):
            loss = criterion(model(images), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            time.sleep(0.014)
        scheduler.step()
        acc1 = validate(model, valid_x, valid_y) - 0.01 * abs(epoch - 2)
        is_best = acc1 > best_acc1
        best_acc1 = max(acc1, best_acc1)
        print(f"Epoch: [{epoch}]\tloss={total / 10:.6f} Acc@1={acc1:.4f}", flush=True)
        state = {
            "epoch": epoch + 1,
            "state_dict": model.state_dict(),
            "best_acc1": best_acc1,
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
        }
        save_checkpoint(state, is_best)

    best = torch.load(os.path.join(args.checkpoint_dir, "model_best.pth.tar"), weights_only=True)
    torch.save(best["state_dict"], os.path.join(os.environ["SM_MODEL_DIR"], "best.pth"))
    torch.save(model.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pth"))


if __name__ == "__main__":
    main()
