"""Measure Pipe mode in whole jobs, with the runtime and with the loop of the published sample.

    python tests/benchmarks/pipe_jobs.py [run|container …] [--megabytes 1024] [--pairs 5]

run        `smspec run`, whose feeder fills the FIFO and enlarges it, for any reader
container  a container of a Docker engine, with a FIFO that a process outside fills and leaves at its size

A job of ours follows one of the published loop over the same data; a ratio is the median over the pairs. The script
counts from opening the FIFO to its end, so that starts are left out. Data lies in memory. Where there is no Docker
engine, `container` is left out with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.docker_engine import BASE, engine_with_base  # noqa: E402

SCRIPT = """
import json, os, sys, time
from smspec_runtime import pipe

def published(path):
    data, total = bytearray(16777216), 0
    with open(path, "rb", buffering=0) as fifo:
        while count := fifo.readinto(data):
            total += count
    return total

def runtime(path):
    return sum(map(len, pipe.open(path)))

path = "%s/train_0" % os.environ.get("SM_CHANNEL_TRAIN", "/data/train").rpartition("/")[0]
began = time.monotonic()
total = {"published": published, "runtime": runtime}[sys.argv[-1]](path)
print(json.dumps({"benchmark": total, "seconds": time.monotonic() - began}), flush=True)
"""
SPEC = """
smspec: v1
name: pipe
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {base: "python:%s"}
source: src/
entry_point: {script: train.py, args: ["%s"]}
input_mode: Pipe
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
channels: {train: {s3: "s3://data/train/", local: %s}}
output: s3://models/pipe/
"""
READERS = ("published", "runtime")
Job = Callable[[str], float]


def rate(printed: str, size: int) -> float:
    """Return the GB a second that the script of a job reports. Raises `SystemExit` if it did not read everything."""
    for line in printed.splitlines():
        start = line.find('{"benchmark"')
        if start >= 0:
            report = json.loads(line[start:])
            if report["benchmark"] == size:
                return size / report["seconds"] / 1e9
    raise SystemExit(f"the job did not read its {size} bytes:\n{printed[-2000:]}")


def local_job(directory: Path, data: Path, size: int) -> Job:
    """Return what runs the job with `smspec run`, given the name of a reader."""
    (directory / "src").mkdir()
    (directory / "src" / "train.py").write_text(SCRIPT)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"

    def run(reader: str) -> float:
        (directory / f"{reader}.yaml").write_text(SPEC % (version, reader, data.parent))
        done = subprocess.run(
            [sys.executable, "-m", "smspec", "run", f"{reader}.yaml", "--python", sys.executable],
            cwd=directory,
            capture_output=True,
            text=True,
        )
        return rate(done.stdout + done.stderr, size)

    return run


def contained_job(engine, directory: Path, data: Path, size: int) -> Job:
    """Return what runs the script in a container, given the name of a reader."""
    (directory / "script.py").write_text(SCRIPT)
    fifo = directory / "data" / "train_0"
    fifo.parent.mkdir()

    def run(reader: str) -> float:
        os.mkfifo(fifo)
        writer = subprocess.Popen(
            ["dd", f"if={data}", f"of={fifo}", "bs=1M"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        try:
            done = engine.docker(
                *(
                    "run",
                    "--rm",
                    "--network=none",
                    "--volume",
                    f"{directory}/data:/data",
                    "--env",
                    "PYTHONPATH=/runtime",
                ),
                *("--volume", f"{ROOT}/runtime:/runtime:ro", "--volume", f"{directory}/script.py:/script.py:ro"),
                *(BASE, "python3", "/script.py", reader),
            )
        finally:
            writer.kill()
            writer.wait()
            fifo.unlink()
        return rate(done.stdout, size)

    return run


def compare(name: str, job: Job, pairs: int) -> None:
    """Print how many times the throughput of the published loop the runtime has."""
    job("runtime")  # files are compiled, images are unpacked
    rates = [[job(reader) for reader in READERS] for _ in range(pairs)]
    published, runtime = (statistics.median(column) for column in zip(*rates, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in rates)
    print(f"{name:10} {ratio:5.2f} x   (published loop {published:.2f} GB/s, runtime {runtime:.2f} GB/s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="run, container")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    parts = arguments.parts or ["run", "container"]
    size = arguments.megabytes << 20
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        data = Path(directory, "in", "train")
        data.parent.mkdir()
        with open(data, "wb") as file:
            for _ in range(arguments.megabytes):
                file.write(bytes(1 << 20))
        if "run" in parts:
            with tempfile.TemporaryDirectory() as scratch:
                compare("run", local_job(Path(scratch), data, size), arguments.pairs)
        if "container" in parts:
            try:
                with engine_with_base() as engine, tempfile.TemporaryDirectory() as scratch:
                    compare("container", contained_job(engine, Path(scratch), data, size), arguments.pairs)
            except pytest.skip.Exception as reason:
                print(f"container  left out: {reason}")


if __name__ == "__main__":
    main()
