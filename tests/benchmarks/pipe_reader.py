"""Measure throughput, latency, and memory of the reader of Pipe mode.

    python tests/benchmarks/pipe_reader.py [drain|prefetch|channels|prompt|memory …] [--gigabytes 1] [--pairs 7]

drain     `chunks`, `readinto` and prefetch against the published loop of Pipe mode, and against splice
prefetch  a handler that works as long as its data takes to come, against the published loop with the same handler
channels  four channels of the same rate merged, against one; how equal their shares are (Jain's index)
prompt    milliseconds from SIGTERM to the handler, per epoch that is empty, and from `close` to the writer's EPIPE
memory    what a reader needs beyond Python itself, for a stream and for one four times as long

Each run of ours is paired with a run of the other right before it; a ratio is the median over the pairs. Writers are
processes of their own, on another CPU if there is one, that write from one buffer. Only ratios mean something: absolute
figures depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from smspec_runtime import pipe
from smspec_runtime.pipe.fifo import enlarge
from support.pipe.fifo_writers import Writer
from support.pipe.pipe_host import Host

STEP = 4 << 20
"""Bytes that a handler takes at a time."""

WRITE = """
import os, sys, time
path, left, rate, cpu = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
if cpu:
    os.sched_setaffinity(0, {int(cpu)})
piece = bytes(1 << 20 if not rate else 1 << 16)
with open(path, "wb", buffering=0) as fifo:
    due = time.monotonic()
    while left > 0:
        count = fifo.write(piece[:left])
        left -= count
        if rate:  # what was not taken in time is not made up for, but for a quarter of a megabyte: a small agent
            due = max(due + count / rate, time.monotonic() - (1 << 18) / rate)
            time.sleep(max(0, due - time.monotonic()))
"""


class Run(NamedTuple):
    """What one drain took."""

    rate: float
    cpu: float
    switches: float


class Machine:
    """Where readers and writers run."""

    def __init__(self):
        cpus = sorted(os.sched_getaffinity(0))
        self.writers = str(cpus[1]) if len(cpus) > 1 else ""
        os.sched_setaffinity(0, {cpus[0]})

    def fed(self, read, size, rate=0.0, channels=1):
        """Call ``read`` with the paths of FIFOs that are being filled; return its result and the seconds it took."""
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, f"train{number}_0") for number in range(channels)]
            for path in paths:
                os.mkfifo(path)
            words = [[sys.executable, "-c", WRITE, path, str(size), str(rate), self.writers] for path in paths]
            writers = [subprocess.Popen(line, stderr=subprocess.DEVNULL) for line in words]
            time.sleep(0.2)  # until the writers wait for their reader
            began = time.monotonic()
            result = read(*paths)
            seconds = time.monotonic() - began
            for writer in writers:
                writer.wait()
        return result, seconds


def published(path, step=lambda: None):
    """The loop of the published sample: 16 MiB, unbuffered, the pipe as it is; a step for every 4 MiB."""
    data = bytearray(16777216)
    total = 0
    with open(path, "rb", buffering=0) as fifo:
        while True:
            count = fifo.readinto(data)
            if not count:
                return total
            for _ in range((total + count) // STEP - total // STEP):
                step()
            total += count


def chunks(path):
    return sum(map(len, pipe.open(path).chunks()))


def readinto(path):
    buffer = bytearray(1 << 20)
    with pipe.open(path) as stream:
        return sum(iter(lambda: stream.readinto(buffer), 0))


def prefetch(path, step=lambda: None):
    total = 0
    for chunk in pipe.open(path, prefetch=16 << 20):
        for _ in range((total + len(chunk)) // STEP - total // STEP):
            step()
        total += len(chunk)
    return total


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


def drain(machine, arguments):
    size = int(arguments.gigabytes * 1000) << 20

    def run(read):
        before = resource.getrusage(resource.RUSAGE_SELF)
        count, seconds = machine.fed(read, size)
        after = resource.getrusage(resource.RUSAGE_SELF)
        if count != size:
            raise SystemExit(f"{count} of {size} bytes were read")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        gigabytes = size / 1e9
        return Run(gigabytes / seconds, cpu / gigabytes, (after.ru_nvcsw - before.ru_nvcsw) / gigabytes)

    row = "{:<22} {:>8} {:>8} {:>10} {:>8} {:>12}".format
    print(row("drain", "GB/s", "ratio", "CPU s/GB", "ratio", "switches/GB"))
    pairs = [(published, chunks), (published, readinto), (published, prefetch)]
    if hasattr(os, "splice"):
        pairs += [(splice, chunks), (splice, readinto)]
    for theirs, ours in pairs:
        runs = [(run(theirs), run(ours)) for _ in range(arguments.pairs)]
        rate = statistics.median(mine.rate / other.rate for other, mine in runs)
        cpu = statistics.median(mine.cpu / other.cpu for other, mine in runs)
        mine = Run(*map(statistics.median, zip(*(mine for _, mine in runs), strict=True)))
        name = f"{ours.__name__} : {theirs.__name__}"
        print(row(name, f"{mine.rate:.2f}", f"{rate:.2f}", f"{mine.cpu:.3f}", f"{cpu:.2f}", f"{mine.switches:.0f}"))


def overlap(machine, arguments):
    """Work as long as the data takes to come: with perfect overlap the whole takes half as long."""
    rate = 200e6
    size = 100 * STEP
    ratios = []
    for _ in range(max(arguments.pairs - 2, 5)):
        _, transfer = machine.fed(chunks, size, rate)

        def step(seconds=transfer * STEP / size):
            time.sleep(seconds)  # as a GPU works: the CPU is free

        _, serial = machine.fed(lambda path: published(path, step), size, rate)
        _, ours = machine.fed(lambda path: prefetch(path, step), size, rate)
        ratios.append(serial / ours)
    print(f"prefetch   {statistics.median(ratios):.2f} times the published loop (limit 2)")


def channels(machine, arguments):
    count, rate, size = 4, 50e6, 50 << 20

    def together(*paths):
        totals = dict.fromkeys(paths, 0)
        shares = ()
        for path, chunk in pipe.merge({path: pipe.open(path) for path in paths}):
            totals[path] += len(chunk)
            if not shares and totals[path] == size:
                shares = tuple(totals.values())
        return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))

    ratios, fairness = [], []
    for _ in range(max(arguments.pairs - 2, 5)):
        _, one = machine.fed(chunks, size, rate)
        jain, all_of_them = machine.fed(together, size, rate, count)
        ratios.append(count * one / all_of_them)
        fairness.append(jain)
    print(f"channels   {count} channels: {statistics.median(ratios):.2f} times one (limit {count}), ", end="")
    print(f"Jain's index {statistics.median(fairness):.3f}")
    fair = [machine.fed(together, size << 2, 0.0, count)[0] for _ in range(3)]
    print(f"           as fast as they can: Jain's index {statistics.median(fair):.3f}")


HANDLER = """
import time
from smspec_runtime import pipe

class Handler:
    def epoch(self, job, epoch, streams):
        print("up", flush=True)
        for item in {}:
            pass

    def end(self, job):
        print("end", time.time())
"""
STATES = {
    "no FIFO": ({}, {}),
    "no writer": ({"train": None}, {}),
    "no byte": ({"train": ()}, {}),
    "no further byte": ({"train": (b"x",)}, {}),
    "bytes come": ({"train": iter(lambda: bytes(1 << 16), None)}, {}),
    "prefetch waits": ({"train": (b"x",)}, {"prefetch": 1 << 20}),
    "several channels": ({"train": (b"x",), "other": None}, {}),
}


def prompt(_, arguments):
    for state, (fifos, settings) in STATES.items():
        took = []
        for _ in range(max(arguments.pairs - 2, 5)):
            with tempfile.TemporaryDirectory() as directory:
                names = ["train", "other"] if "other" in fifos else ["train"]
                read = "pipe.merge(streams)" if len(names) > 1 else "streams['train']"
                host = Host(Path(directory, "ml"), HANDLER.format(read), channels=names, **settings)
                for name, pieces in fifos.items():
                    path = host.data / f"{name}_0"
                    os.mkfifo(path)
                    if pieces is not None:
                        Writer(path, pieces, linger=3)
                host.start()
                host.process.stdout.readline()
                time.sleep(0.3)  # into the wait
                sent = time.time()
                host.process.send_signal(signal.SIGTERM)
                host.end()
                took.append(float(re.search(r"^end (.*)", host.out, re.M)[1]) - sent)
        print(f"prompt     SIGTERM to handler, {state:<17} {statistics.median(took) * 1e3:6.1f} ms")

    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, f"train_{epoch}") for epoch in range(100)]
        script = "import os, sys\nfor path in sys.argv[1:]: os.close(os.open(path, os.O_WRONLY))"
        for path in paths:
            os.mkfifo(path)
        writer = subprocess.Popen([sys.executable, "-c", script, *paths])
        list(pipe.open(paths[0]))
        began = time.monotonic()
        for path in paths[1:]:
            list(pipe.open(path))
        print(f"prompt     an empty epoch                       {(time.monotonic() - began) / 99 * 1e3:6.1f} ms")
        writer.wait()

    for forked in (False, True):
        took = []
        for _ in range(max(arguments.pairs - 2, 5)):
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "train_0")
                os.mkfifo(path)
                writer = Writer(path, iter(lambda: bytes(1 << 18), None))
                stream = pipe.open(path)
                next(stream.chunks())
                worker = os.fork() if forked else 0
                if forked and not worker:
                    time.sleep(30)
                    os._exit(0)
                time.sleep(0.05)
                began = time.monotonic()
                stream.close()
                writer.join()
                took.append(writer.broken_at - began)
                if worker:
                    os.kill(worker, signal.SIGKILL)
                    os.waitpid(worker, 0)
        workers = "with a forked worker" if forked else "alone"
        print(f"prompt     close to EPIPE, {workers:<20}      {statistics.median(took) * 1e3:6.1f} ms")


READ = r"""
import re, sys
from smspec_runtime import pipe
rss = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")  # forget the peak of the imports
before = rss()
total = sum(map(len, pipe.open(sys.argv[1], prefetch=int(sys.argv[2]))))
print(total, rss() - before)
"""


def memory(machine, arguments):
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2] / "runtime"))
    for ahead in (0, 16 << 20):
        for factor in (1, 4):
            size = int(arguments.gigabytes * factor * 1000) << 20

            def read(path, size=size, ahead=ahead):
                words = [sys.executable, "-c", READ, path, str(ahead)]
                out = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
                total, kilobytes = map(int, out.split())
                assert total == size
                return kilobytes / 1024

            mebibytes, _ = machine.fed(read, size)
            print(f"memory     {size / 1e9:5.1f} GB with {ahead >> 20:2} MiB of prefetch: {mebibytes:5.1f} MiB")


PARTS = {"drain": drain, "prefetch": overlap, "channels": channels, "prompt": prompt, "memory": memory}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--gigabytes", type=float, default=1, help="of one run")
    parser.add_argument("--pairs", type=int, default=7)
    arguments = parser.parse_args()
    machine = Machine()
    for part in arguments.parts or PARTS:
        PARTS[part](machine, arguments)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
