"""Measure the views of a FIFO against widely used readers.

    SMSPEC_PEERS_PYTHON=peers/bin/python python tests/benchmarks/pipe_views.py [--pairs 5] [--only recordio]

The peers are `sagemaker.amazon.common.read_recordio` (with protobuf and numpy for records of numbers), `tfrecord` and
`webdataset`. SMSPEC_PEERS_PYTHON names a Python that has them (peers.txt), as `make benchmarks` does.
What it lacks is left out by name; without the variable only `for line in open(…)` is left to compare with. Ours runs in
a process of the same Python. Each run of ours follows a run of the peer over the same data; a ratio is the median over
the pairs. Readers are on one CPU, the writer is on another if there is one. `tfrecord` cannot read a FIFO: there both
read a file. The time to import is not counted; ratios of CPU seconds say most on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

RUNTIME = str(Path(__file__).parents[2] / "runtime")
TESTS = str(Path(__file__).parents[1])
ROWS = 1000  # of a batch of records of numbers


class Case(NamedTuple):
    """One line of the table: the data, our view of it, the peer, and how much faster ours is meant to be."""

    name: str
    data: str
    size: int
    ours: str
    peer: str
    goal: float
    megabytes: int


CASES = [
    Case("recordio 100 B", "recordio", 100, "recordio", "sdk", 4, 48),
    Case("recordio 50-150 B", "recordio_variable", 100, "recordio", "sdk", 1.6, 48),
    Case("recordio 1 KB", "recordio", 1000, "recordio", "sdk", 2, 96),
    Case("recordio 0.5-1.5 KB", "recordio_variable", 1000, "recordio", "sdk", 1.6, 96),
    Case("recordio 10 KB", "recordio", 10_000, "recordio", "sdk", 1.4, 256),
    Case("recordio 5-15 KB", "recordio_variable", 10_000, "recordio", "sdk", 1.4, 256),
    Case("recordio 50-150 KB", "recordio_variable", 100_000, "recordio", "sdk", 2, 256),
    Case("lines 100 B", "lines", 100, "lines", "lines", 1.6, 128),
    Case("lines 1 KB", "lines", 1000, "lines", "lines", 1.9, 256),
    Case("dense 10, stdlib", "dense", 10, "dense_stdlib", "sdk_dense", 5, 8),
    Case("dense 100, stdlib", "dense", 100, "dense_stdlib", "sdk_dense", 5, 24),
    Case("dense 784, stdlib", "dense", 784, "dense_stdlib", "sdk_dense", 5, 64),
    Case("dense 10, numpy", "dense", 10, "dense_numpy", "sdk_dense", 20, 8),
    Case("dense 100, numpy", "dense", 100, "dense_numpy", "sdk_dense", 20, 24),
    Case("dense 784, numpy", "dense", 784, "dense_numpy", "sdk_dense", 5, 64),
    Case("tfrecord 100 B", "tfrecord", 100, "tfrecord", "tfrecord", 4, 32),
    Case("tfrecord 1 KB", "tfrecord", 1000, "tfrecord", "tfrecord", 4, 96),
    Case("tfrecord 10 KB", "tfrecord", 10_000, "tfrecord", "tfrecord", 4, 128),
    Case("tar 1 KB", "tar", 1000, "tar", "webdataset", 8, 16),
    Case("tar 10 KB", "tar", 10_000, "tar", "webdataset", 8, 64),
]


# --- Readers: each returns how many items it saw. They run in a process of their own, and import what they need first.


def our_view(name):
    def read(path):
        count = 0
        for _ in getattr(pipe().open(path), name)():
            count += 1
        return count

    pipe()
    return read


def pipe():
    if RUNTIME not in sys.path:
        sys.path.insert(0, RUNTIME)
    from smspec_runtime import pipe

    return pipe


def dense_stdlib():
    sys.modules["numpy"] = None  # as where it is not installed
    return dense_numpy()


def dense_numpy():
    def read(path):
        rows = 0
        for batch in pipe().open(path).batches(ROWS, "recordio_protobuf"):
            features, label = batch.features["values"], batch.label["values"]
            rows += features.shape[0]
            assert len(label.values) == features.shape[0]
        return rows

    pipe()
    return read


def sdk():
    from sagemaker.amazon.common import read_recordio

    def read(path):
        count = 0
        with open(path, "rb") as file:
            for _ in read_recordio(file):
                count += 1
        return count

    return read


def sdk_dense():
    import numpy
    from google.protobuf.internal import api_implementation
    from sagemaker.amazon.common import read_recordio
    from sagemaker.amazon.record_pb2 import Record

    assert api_implementation.Type() == "upb"

    def stack(records):
        features = [numpy.array(record.features["values"].float32_tensor.values, "f4") for record in records]
        labels = [numpy.array(record.label["values"].float32_tensor.values, "f4") for record in records]
        return len(numpy.stack(features)) + 0 * len(numpy.stack(labels))

    def read(path):
        rows, records = 0, []
        with open(path, "rb") as file:
            for payload in read_recordio(file):
                record = Record()
                record.ParseFromString(payload)
                records.append(record)
                if len(records) == ROWS:
                    rows += stack(records)
                    records = []
        return rows + (stack(records) if records else 0)

    return read


def lines():
    def read(path):
        count = 0
        with open(path, "rb") as file:
            for _ in file:
                count += 1
        return count

    return read


def tfrecord():
    from tfrecord.reader import tfrecord_iterator

    def read(path):
        count = 0
        for _ in tfrecord_iterator(path):
            count += 1
        return count

    return read


def webdataset():
    import webdataset as wds

    def read(path):
        count = 0
        for _ in wds.WebDataset(path, shardshuffle=False):  # one sample per file: their names differ before the dot
            count += 1
        return count

    return read


PEERS = {reader.__name__: reader for reader in (sdk, sdk_dense, lines, tfrecord, webdataset)}
OURS = {"dense_stdlib": dense_stdlib, "dense_numpy": dense_numpy}


def serve(side, name):
    """Read what standard input names, one path per line; answer with count, seconds and CPU seconds."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some peers print while they are imported
    read = (PEERS[name] if side == "peer" else OURS.get(name, lambda: our_view(name)))()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        count = read(line.rstrip("\n"))
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(json.dumps([count, seconds, cpu]), file=answers, flush=True)


# --- Data


def make(kind, size, total):
    """Return about ``total`` bytes of a format, and how many items they are."""
    sys.path.insert(0, TESTS)
    from support.pipe import pipe_formats as formats

    spread = [size if "variable" not in kind else size // 2 + (size * i * 37 // 97) % (size + 1) for i in range(97)]
    payload = [formats.pattern(n).replace(formats.MAGIC, b"none") for n in spread]
    if kind == "tar":
        file = BytesIO()
        with tarfile.open(fileobj=file, mode="w") as archive:
            while file.tell() < total:
                info = tarfile.TarInfo(f"{file.tell():09d}.bin")
                info.size = size
                archive.addfile(info, BytesIO(payload[0]))
        return file.getvalue()
    if kind == "dense":
        tensors = [formats.tensor("f", [float(i * size + j) for j in range(size)]) for i in range(97)]
        labels = [formats.tensor("f", [float(i)]) for i in range(97)]
        pairs = zip(tensors, labels, strict=True)
        items = [formats.recordio(formats.record({"values": t}, {"values": y})) for t, y in pairs]
    elif kind == "lines":
        half = [size // 2 + (size * i * 37 // 97) % (size + 1) for i in range(97)]
        items = [b"x" * (n - 1) + b"\n" for n in half]
    elif kind == "tfrecord":
        items = [formats.tfrecord(p) for p in payload]
    else:
        items = [formats.recordio(p) for p in payload]
    pattern = b"".join(items)
    return pattern * (total // len(pattern) + 1)


WRITE = """
import mmap, os, sys
if sys.argv[3:]:
    os.sched_setaffinity(0, {int(sys.argv[3])})
with open(sys.argv[1], "rb") as file:
    data = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
print("ready", flush=True)
with open(sys.argv[2], "wb", buffering=0) as fifo:
    at = 0
    while at < len(data):
        at += fifo.write(data[at : at + (1 << 20)])
"""


# --- The measurement


class Run(NamedTuple):
    """What one reading took."""

    count: int
    seconds: float
    cpu: float


class Worker:
    """A process that reads as one side does, for as many runs as it is asked to."""

    def __init__(self, python, side, name):
        environment = {**os.environ, "SAGEMAKER_SUPPRESS_V2_WARNING": "1"}
        self.process = subprocess.Popen(
            [python, "-W", "ignore", __file__, "--serve", side, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.works = self.process.stdout.readline() == "ready\n"

    def read(self, path):
        """Have the data behind a path read."""
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(self.process.stderr.read())
        return Run(*json.loads(answer))

    def end(self):
        """End the process; return the last line it complained with."""
        complaints = self.process.communicate()[1].strip().splitlines()
        return complaints[-1] if complaints else "it ends at once"


def through_fifo(worker, data, directory, writer_cpu):
    """Have a writer put ``data`` into a FIFO that the worker reads."""
    path = os.path.join(directory, "train_0")
    os.mkfifo(path)
    writer = subprocess.Popen([sys.executable, "-c", WRITE, data, path, *writer_cpu], stdout=subprocess.PIPE)
    writer.stdout.readline()
    run = worker.read(path)
    writer.stdout.close()
    if writer.wait():
        raise SystemExit("the writer could not write everything")
    os.unlink(path)
    return run


def compare(case, python, pairs, directory, writer_cpu):
    """Return a pair of runs after another, or the reason why there is none."""
    data = os.path.join(directory, "data")
    Path(data).write_bytes(make(case.data, case.size, case.megabytes << 20))
    peer, ours = Worker(python, "peer", case.peer), Worker(python, "ours", case.ours)
    try:
        if not peer.works or not ours.works:
            return (ours if peer.works else peer).end()
        runs = []
        for _ in range(pairs + 1):
            theirs, own = (
                worker.read(data) if case.peer == "tfrecord" else through_fifo(worker, data, directory, writer_cpu)
                for worker in (peer, ours)
            )
            if theirs.count != own.count:
                raise SystemExit(f"{case.name}: {own.count} items of ours, {theirs.count} of the peer's")
            runs.append((theirs, own))
        return runs[1:]  # the first pair warms up
    finally:
        for worker in (peer, ours):
            worker.end()
        os.unlink(data)


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="lines of the table that begin so")
    parser.add_argument("--serve", nargs=2, metavar=("SIDE", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(*arguments.serve)
        return
    python = os.environ.get("SMSPEC_PEERS_PYTHON", sys.executable)
    cpus = sorted(os.sched_getaffinity(0))
    writer_cpu = [str(cpus[1])] if len(cpus) > 1 else []
    row = "{:<20} {:<11} {:>6} {:>9} {:>7} {:>10} {:>10}".format
    print(row("data", "peer", "goal", "x faster", "x CPU", "ours MB/s", "CPU s/GB"))
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    for case in CASES:
        if not case.name.startswith(arguments.only):
            continue
        with tempfile.TemporaryDirectory(dir=memory) as directory:
            size = case.megabytes << 20
            runs = compare(case, python, arguments.pairs, directory, writer_cpu)
        if isinstance(runs, str):
            print(f"{case.name:<20} {case.peer:<11} left out: {runs}", flush=True)
            continue
        faster = statistics.median(theirs.seconds / own.seconds for theirs, own in runs)
        cheaper = statistics.median(theirs.cpu / own.cpu for theirs, own in runs)
        rate = size / 1e6 / statistics.median(own.seconds for _, own in runs)
        cpu = statistics.median(own.cpu for _, own in runs) / size * 1e9
        figures = (f"{case.goal:g}", f"{faster:.2f}", f"{cheaper:.2f}", f"{rate:.0f}", f"{cpu:.2f}")
        print(row(case.name, case.peer, *figures), flush=True)


if __name__ == "__main__":
    main()
