"""Measure time, memory, and size of the runtime next to the bare script and the SageMaker Training Toolkit.

    python tests/benchmarks/runtime_cost.py [--rounds 21]

A round runs the same script once in every way: by itself, under ``python -m smspec_runtime train``, under a generated
``entrypoint.py``, and under the toolkit's ``train`` if SMSPEC_TOOLKIT_PYTHON names a Python that has it. What is added
is the median over the rounds of the difference to the bare script of the same round; as milliseconds depend on the
machine, `x pass` says how many times ``python -c pass`` of the same run that is. Memory is the peak of the first
process alone, less that of an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from smspec.plan.delivery import run_plan_json
from smspec.render.dockerfile import entrypoint
from smspec_runtime.run_plan import RunPlan
from support.runtime.container import RUNTIME, Container

PEAK = "import os\nprint(open(f'/proc/{os.getppid()}/status').read())\n"
"""Shows, as the script of a job, what the runtime above it has taken."""
IDLE = "print(open('/proc/self/status').read())"


class Way(NamedTuple):
    """One way to run the script."""

    name: str
    command: list[str]
    environ: dict[str, str]
    size: int = 0
    files: int = 0


class Cost(NamedTuple):
    """What one run took, in milliseconds."""

    wall: float
    cpu: float


def ways(container, home):
    """Return every way that this machine has, the bare ones first."""
    python, code = sys.executable, container.base / "code"
    environ = container.environ(PYTHONPATH="", SAGEMAKER_PROGRAM="train.py")
    bundle = home / "smspec"
    runtime = bundle / "smspec_runtime"
    shutil.copytree(RUNTIME / "smspec_runtime", runtime, ignore=shutil.ignore_patterns("__pycache__"))
    plan = RunPlan(kind="script", program="train.py")
    (bundle / "entrypoint.py").write_text(entrypoint(plan))
    (bundle / "run_plan.json").write_text(run_plan_json(plan))
    room = occupied(runtime.rglob("*.py"))
    subprocess.run([python, "-m", "compileall", "-q", str(bundle)], check=True)
    found = [
        Way("python -c pass", [python, "-c", "pass"], environ),
        Way("bare script", [python, str(code / "train.py")], environ),
        Way("python -m smspec_runtime", [python, "-m", "smspec_runtime", "train"], environ, *room),
        Way("entrypoint.py", [python, str(bundle / "entrypoint.py"), "train"], environ, *room),
    ]
    found[2] = found[2]._replace(environ={**environ, "PYTHONPATH": str(bundle)})
    toolkit = os.environ.get("SMSPEC_TOOLKIT_PYTHON")
    if toolkit and Path(toolkit).with_name("train").exists():
        script = "import sys; print(*(path for path in sys.path if path.endswith('site-packages')))"
        site = subprocess.run([toolkit, "-c", script], capture_output=True, text=True, check=True).stdout.split()
        room = occupied(path for root in site for path in Path(root).rglob("*") if "__pycache__" not in path.parts)
        beside = {**environ, "PATH": f"{Path(toolkit).parent}:{environ['PATH']}"}
        found.append(Way("sagemaker-training", [toolkit, str(Path(toolkit).with_name("train"))], beside, *room))
    else:
        print("left out: sagemaker-training (SMSPEC_TOOLKIT_PYTHON names no Python that has it)")
    return found


def occupied(paths):
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return sum(sizes), len(sizes)


def run(way):
    """Run once and return the cost."""
    began = time.perf_counter()
    process = subprocess.Popen(
        way.command, env=way.environ, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = status  # It is reaped already.
    if status:
        raise SystemExit(f"{way.name}: wait status {status}")
    return Cost(wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3)


def peak(command, environ):
    """Return the peak memory, in megabytes, of the process whose status a command prints."""
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return int(re.search(r"VmHWM:\s+(\d+) kB", done.stdout)[1]) / 1024


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as home:
        container = Container(Path(home) / "ml")
        container.write("code/train.py", "pass\n")
        # The toolkit waits until even a single host can be found by name.
        container.configure({"epochs": "3", "learning-rate": "0.1"}, hosts=["localhost"], current="localhost")
        known = ways(container, Path(home))
        costs = [[run(way) for way in known] for _ in range(rounds + 1)][1:]
        container.write("code/train.py", PEAK)
        report(known, costs)


def report(known, costs):
    row = "{:<26} {:>8} {:>8} {:>8} {:>10} {:>10} {:>12} {:>7}".format
    print(row("", "wall ms", "added", "x pass", "CPU added", "peak added", "bytes", "files"))
    own = statistics.median(each[0].wall for each in costs)
    for place, way in enumerate(known):
        shown = [""] * 6
        if place > 1:
            wall = statistics.median(each[place].wall - each[1].wall for each in costs)
            cpu = statistics.median(each[place].cpu - each[1].cpu for each in costs)
            memory = peak(way.command, way.environ) - peak([way.command[0], "-c", IDLE], way.environ)
            shown = [f"{wall:.1f}", f"{wall / own:.2f}", f"{cpu:.1f}", f"{memory:.1f} MB", f"{way.size:,}", way.files]
        print(row(way.name, f"{statistics.median(each[place].wall for each in costs):.1f}", *shown))


if __name__ == "__main__":
    main()
