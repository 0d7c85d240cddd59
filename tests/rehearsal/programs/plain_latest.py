"""Matrix factorization; a directory per checkpoint, and a file `latest` that names the last whole one."""

import argparse
import json
import os
import random
import shutil
import time
from pathlib import Path


def dump(path, value):
    with path.open("w") as file:
        text = json.dumps(value)
        half = len(text) // 2
        file.write(text[:half])
        file.flush()
        time.sleep(0.003)
        file.write(text[half:])


class Checkpoints:
    def __init__(self, root, keep):
        self.root, self.keep = Path(root), keep
        self.root.mkdir(parents=True, exist_ok=True)
        self.pointer = self.root / "latest"

    def save(self, iteration, users, items, velocity):
        directory = self.root / f"checkpoint-{iteration}"
        directory.mkdir(exist_ok=True)
        dump(directory / "users.json", users)
        dump(directory / "items.json", items)
        dump(directory / "optimizer.json", {"velocity": velocity, "iteration": iteration})
        self.point_to(directory.name)
        for old in self.root.glob("checkpoint-*"):
            if int(old.name.split("-")[1]) <= iteration - self.keep * 10:
                shutil.rmtree(old)

    def point_to(self, name):
        new = self.root / ".latest"
        new.write_text(name)
        new.replace(self.pointer)

    def load(self):
        if not self.pointer.exists():
            return None
        directory = self.root / self.pointer.read_text()
        optimizer = json.loads((directory / "optimizer.json").read_text())
        return (
            optimizer["iteration"],
            json.loads((directory / "users.json").read_text()),
            json.loads((directory / "items.json").read_text()),
            optimizer["velocity"],
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--checkpoint-path", default="/opt/ml/checkpoints/als")
    args, _ = parser.parse_known_args()

    seeded = random.Random(5)
    ratings = [(u, i, seeded.uniform(1, 5)) for u in range(9) for i in range(7) if seeded.random() < 0.6]
    users = [[seeded.gauss(0, 0.3) for _ in range(args.rank)] for _ in range(9)]
    items = [[seeded.gauss(0, 0.3) for _ in range(args.rank)] for _ in range(7)]
    velocity = [[0.0] * args.rank for _ in range(9)]
    checkpoints = Checkpoints(args.checkpoint_path, keep=2)
    first = 0
    restored = checkpoints.load()
    if restored:
        first, users, items, velocity = restored
        print(f"continuing from iteration {first}")
    for iteration in range(first, args.iterations):
        squared = 0.0
        for u, i, rating in ratings[iteration % 3 :: 3]:
            error = rating - sum(a * b for a, b in zip(users[u], items[i]))
            squared += error**2
            for k in range(args.rank):
                velocity[u][k] = 0.9 * velocity[u][k] + 0.01 * error * items[i][k]
                items[i][k] += 0.02 * error * users[u][k]
                users[u][k] += velocity[u][k]
        time.sleep(0.008)
        if (iteration + 1) % 10 == 0:
            print(f"iteration {iteration + 1} loss={squared / len(ratings):.6f}", flush=True)
            checkpoints.save(iteration + 1, users, items, velocity)
    Path(os.environ["SM_MODEL_DIR"], "factors.json").write_text(json.dumps({"users": users, "items": items}))


if __name__ == "__main__":
    main()
