"""How fast a FIFO is drained: our `chunks` and `readinto` against the published loop of Pipe mode.

    python tests/benchmarks/pipe_drain.py [--gigabytes 2] [--pairs 7]

Each run of ours is paired with a run of the published loop right before it; a ratio is the median over the pairs. The
writer is a process of its own, on another CPU if there is one, that writes 1 MiB at a time from one buffer. Only
ratios mean something: gigabytes per second depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))

from smspec_runtime import pipe
from smspec_runtime.pipe.fifo import enlarge

WRITE = """
import os, sys
if sys.argv[3:]:
    os.sched_setaffinity(0, {int(sys.argv[3])})
path, left, piece = sys.argv[1], int(sys.argv[2]), bytes(1 << 20)
with open(path, "wb", buffering=0) as fifo:
    while left > 0:
        left -= fifo.write(piece)
"""


class Run(NamedTuple):
    """What one drain took."""

    rate: float
    cpu: float
    switches: float


def published(path):
    """The loop of the published sample: 16 MiB, unbuffered, the pipe as it is."""
    data = bytearray(16777216)
    total = 0
    with open(path, "rb", buffering=0) as fifo:
        while True:
            count = fifo.readinto(data)
            if not count:
                return total
            total += count


def chunks(path):
    return sum(map(len, pipe.open(path).chunks()))


def readinto(path):
    buffer = bytearray(1 << 20)
    with pipe.open(path) as stream:
        return sum(iter(lambda: stream.readinto(buffer), 0))


def prefetch(path):
    return sum(map(len, pipe.open(path, prefetch=16 << 20).chunks()))


def splice(path):
    """The kernel moves the bytes to /dev/null: what no reader can beat."""
    fifo = os.open(path, os.O_RDONLY)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        enlarge(fifo)
        return sum(iter(lambda: os.splice(fifo, null, 1 << 20), 0))
    finally:
        os.close(fifo)
        os.close(null)


def drain(read, size, writer_cpu):
    """Drain ``size`` bytes with one reader."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "train_0")
        os.mkfifo(path)
        writer = subprocess.Popen([sys.executable, "-c", WRITE, path, str(size), *writer_cpu])
        time.sleep(0.2)  # until the writer waits for its reader
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        count = read(path)
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
        if writer.wait() or count != size:
            raise SystemExit(f"{count} of {size} bytes were read")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    gigabytes = size / 1e9
    return Run(gigabytes / seconds, cpu / gigabytes, (after.ru_nvcsw - before.ru_nvcsw) / gigabytes)


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1, help="of one run")
    parser.add_argument("--pairs", type=int, default=7)
    arguments = parser.parse_args()
    size = int(arguments.gigabytes * 1000) << 20
    cpus = sorted(os.sched_getaffinity(0))
    writer_cpu = [str(cpus[1])] if len(cpus) > 1 else []
    os.sched_setaffinity(0, {cpus[0]})

    readers = [chunks, readinto, prefetch] + ([splice] if hasattr(os, "splice") else [])
    row = "{:<10} {:>8} {:>12} {:>10} {:>12} {:>12}".format
    print(row("reader", "GB/s", "x published", "CPU s/GB", "x published", "switches/GB"))
    for reader in readers:
        pairs = [(drain(published, size, writer_cpu), drain(reader, size, writer_cpu)) for _ in range(arguments.pairs)]
        theirs, ours = (Run(*map(statistics.median, zip(*runs, strict=True))) for runs in zip(*pairs, strict=True))
        rate = statistics.median(our.rate / their.rate for their, our in pairs)
        cpu = statistics.median(our.cpu / their.cpu for their, our in pairs)
        figures = (f"{ours.rate:.2f}", f"{rate:.2f}", f"{ours.cpu:.3f}", f"{cpu:.2f}", f"{ours.switches:.0f}")
        print(row(reader.__name__, *figures), flush=True)
    print(row("published", f"{theirs.rate:.2f}", "", f"{theirs.cpu:.3f}", "", f"{theirs.switches:.0f}"))


if __name__ == "__main__":
    main()
