"""Measure the feeder of `smspec run` against published feeders of Pipe mode.

    python tests/benchmarks/feeder.py [--megabytes 256] [--pairs 7] [--only NAME] [--reader copy|splice]

The peers are `shutil.copyfileobj` into the FIFO, as the published sagemaker-pipe does (gzip by way of a temporary
file), and the SDK's `_write_recordio` for wrapped objects. Each run of ours is paired with a run of the peer right
before it; a ratio is the median over the pairs. Feeder and reader are processes on CPUs of their own, if there are
two. Objects lie in memory, so that no disk is measured. The reader is the same for both: it copies 256 KiB at a time
and is what limits our feeder, or has the kernel drop what comes (`splice`), which shows the feeder alone. A run during
which others took a tenth of the machine is repeated, twice at most.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "compiler"))

from smspec.local import feeder
from smspec.local.feeder.plan import FeederChannel, FeederPlan

PIN = "import os, sys; sys.argv[1] and os.sched_setaffinity(0, {int(sys.argv[1])}); "
OURS = PIN + "import runpy; sys.argv[:3] = sys.argv[2:3]; runpy.run_path(sys.argv[0], run_name='__main__')"
THEIRS = """
import gzip, shutil, struct, tempfile
directory, fifo, form = sys.argv[2:]
def record(file, out):
    data = file.read()
    out.write(struct.pack("I", 0xCED7230A))
    out.write(struct.pack("I", len(data)))
    padding = (4 - len(data) % 4) % 4
    out.write(data)
    out.write(b"\\0" * padding)
def unpacked(file, out):
    with tempfile.TemporaryFile(dir=os.path.dirname(fifo)) as whole:
        with gzip.open(file) as packed:
            shutil.copyfileobj(packed, whole)
        whole.seek(0)
        shutil.copyfileobj(whole, out)
put = {"plain": shutil.copyfileobj, "recordio": record, "gzip": unpacked}[form]
names = sorted(os.listdir(directory))
with open(fifo, "wb") as out:
    for name in names:
        with open(os.path.join(directory, name), "rb") as file:
            put(file, out)
sys.stdin.read()
"""


class Load(NamedTuple):
    """Objects of ``size`` bytes each. None is read twice: what fits a cache would be copied faster than data is."""

    name: str
    size: int
    form: str = "plain"
    goal: float = 0


LOADS = (
    Load("16 MiB", 16 << 20, goal=6),
    Load("1 MiB", 1 << 20, goal=6),
    Load("100 kB", 100_000),
    Load("10 kB", 10_000),
    Load("RecordIO 10 kB", 10_000, "recordio", goal=1.8),
    Load("RecordIO 1 MiB", 1 << 20, "recordio"),
    Load("gzip 16 MiB", 16 << 20, "gzip", goal=1.5),
)
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Run(NamedTuple):
    """GB/s of one epoch, and the feeder's CPU seconds for a GB."""

    rate: float
    cpu: float


def make(load, directory, total):
    """Write the objects of a load, ``total`` bytes of payload."""
    generator = random.Random(load.size)
    words = [generator.randbytes(40) for _ in range(1000)]
    count = max(1, total // load.size)
    if load.form == "gzip":
        count = max(1, count // 4)
    Path(directory).mkdir()
    for number in range(count):
        path = os.path.join(directory, f"{number:07}")
        text = b"".join(generator.choices(words, k=load.size // 40 + 1))[: load.size]
        with open(path, "wb") as file:
            file.write(gzip.compress(text, 6) if load.form == "gzip" else text)


def cpu_seconds(pid):
    """Return the CPU time of a process so far (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def drain(path, reader):
    """Read one epoch; return its bytes and seconds, from the first byte on."""
    view = memoryview(bytearray(1 << 18))
    with open(path, "rb", buffering=0) as fifo, open(os.devnull, "wb", buffering=0) as nowhere:
        inlet, outlet = fifo.fileno(), nowhere.fileno()
        take = (lambda: os.splice(inlet, outlet, 1 << 20)) if reader == "splice" else (lambda: fifo.readinto(view))
        count = total = take()
        began = time.monotonic()
        while count:
            count = take()
            total += count
        return total, time.monotonic() - began


def busy_seconds():
    """Return the CPU seconds that the machine has worked so far, and that we and our ended children have."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _wait, *rest = map(int, file.readline().split()[1:9])
    own = os.times()
    return (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


def calmly(run):
    """Repeat a run, two times at most, until no other process used the machine."""
    for _ in range(3):
        (machine, own), began = busy_seconds(), time.monotonic()
        result = run()
        (machine_after, own_after), seconds = busy_seconds(), time.monotonic() - began
        if machine_after - machine - (own_after - own) < 0.1 * seconds * os.cpu_count():
            break
    return result


def run(words, fifo, reader):
    """Feed one epoch with the process that ``words`` start."""
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(fifo):
            time.sleep(0.01)
        time.sleep(0.15)  # until it waits for its reader
        before = cpu_seconds(process.pid)
        total, seconds = drain(fifo, reader)
        return total, Run(total / seconds / 1e9, (cpu_seconds(process.pid) - before) / total * 1e9)
    finally:
        process.stdin.close()
        process.wait()


def ours(load, source, scratch, cpu, reader):
    """Run the feeder of `smspec run`."""
    channel = FeederChannel(
        "train",
        source,
        compression="Gzip" if load.form == "gzip" else "None",
        record_wrapper="RecordIO" if load.form == "recordio" else "None",
        epochs=1000,
    )
    plan = os.path.join(scratch, "plan.json")
    with open(plan, "w") as file:
        file.write(FeederPlan(scratch, [channel]).to_json())
    program = os.path.join(os.path.dirname(feeder.__file__), "__main__.py")
    words = [sys.executable, "-c", OURS, cpu, program, "--until-eof", plan]
    return run(words, os.path.join(scratch, "train_0"), reader)


def theirs(load, source, scratch, cpu, reader):
    """Run the published way."""
    fifo = os.path.join(scratch, "theirs")
    os.mkfifo(fifo)
    try:
        return run([sys.executable, "-c", PIN + THEIRS, cpu, source, fifo, load.form], fifo, reader)
    finally:
        os.unlink(fifo)


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256, help="of one run")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", default="", help="loads with this in their name")
    parser.add_argument("--reader", choices=("copy", "splice"), default="copy")
    arguments = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    feeder_cpu = str(cpus[1]) if len(cpus) > 1 else ""
    os.sched_setaffinity(0, {cpus[0]})
    row = "{:<15} {:>7} {:>12} {:>6} {:>9} {:>12}".format
    print(row("objects", "GB/s", "x published", "goal", "CPU s/GB", "x published"))
    for load in LOADS:
        if arguments.only not in load.name:
            continue
        with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
            source = os.path.join(scratch, "objects")
            make(load, source, arguments.megabytes << 20)
            words = load, source, scratch, feeder_cpu, arguments.reader
            pairs = [
                (calmly(lambda: theirs(*words)), calmly(lambda: ours(*words)))  # noqa: B023 (called here and now)
                for _ in range(arguments.pairs)
            ]
        if len({total for pair in pairs for total, _ in pair}) != 1:
            raise SystemExit(f"{load.name}: not the same bytes")
        rates = statistics.median(our.rate / their.rate for (_, their), (_, our) in pairs)
        cpu = statistics.median(our.cpu / their.cpu for (_, their), (_, our) in pairs)
        our = Run(*map(statistics.median, zip(*(our for _, (_, our) in pairs), strict=True)))
        goal = f"{load.goal:g}" if load.goal else ""
        print(row(load.name, f"{our.rate:.2f}", f"{rates:.2f}", goal, f"{our.cpu:.3f}", f"{cpu:.2f}"), flush=True)


if __name__ == "__main__":
    main()
