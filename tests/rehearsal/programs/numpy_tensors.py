"""Ridge regression with accumulated gradients; tensors in a file with a JSON header, as safetensors has them."""

import argparse
import json
import os
import struct
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=130)
parser.add_argument("--accumulate", type=int, default=8)
parser.add_argument("--save-every", type=int, default=13)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--checkpoint-dir", type=str, default="/opt/ml/checkpoints")
args = parser.parse_args()


def write_tensors(path, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F64", "shape": tensor.shape, "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    encoded = json.dumps(header).encode()
    with open(path + ".tmp", "wb") as file:
        file.write(struct.pack("<Q", len(encoded)) + encoded)
        for tensor in tensors.values():
            for part in np.array_split(tensor.astype("<f8"), 4):  # A large model on a slow disk.
                file.write(part.tobytes())
                file.flush()
                time.sleep(0.002)
    os.replace(path + ".tmp", path)


def read_tensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        body = file.read()
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[begin:end], "<f8").reshape(entry["shape"]).copy()
    return tensors, metadata


rng = np.random.default_rng(8)
x = rng.normal(size=(400, 16))
y = x @ rng.normal(size=16) + 0.05 * rng.normal(size=400)
tensors = {"weights": np.zeros(16), "accumulated": np.zeros(16)}
step = 0
path = os.path.join(args.checkpoint_dir, "checkpoint.tensors")
if os.path.isfile(path):
    tensors, metadata = read_tensors(path)
    step = int(metadata["step"])
    print(f"restored step {step}")
while step < args.max_steps:
    rows = np.random.default_rng(step).integers(0, 400, size=4)
    error = x[rows] @ tensors["weights"] - y[rows]
    tensors["accumulated"] += x[rows].T @ error / 4
    step += 1
    if step % args.accumulate == 0:
        tensors["weights"] -= args.lr * tensors["accumulated"] / args.accumulate
        tensors["accumulated"][:] = 0
    time.sleep(0.008)
    if step % args.save_every == 0:
        write_tensors(path, tensors, {"step": str(step)})
        print(f"step={step} loss={np.mean((x @ tensors['weights'] - y) ** 2):.6f}", flush=True)
write_tensors(os.path.join(os.environ["SM_MODEL_DIR"], "model.tensors"), {"weights": tensors["weights"]}, {})
