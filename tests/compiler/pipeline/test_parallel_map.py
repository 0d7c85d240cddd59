"""Parallel work: ordered results, exceptions as in one process, and no remaining process."""

import os
import signal
import subprocess
import sys
import time

import pytest

from support.pipe.fifo_writers import eventually
from support.smspec_command import environment

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is one processor, or no Linux"
)

# A process of its own forks: pytest has threads.
HEAD = """
import os, sys, time
from smspec.pipeline.parallel_map import FEWEST, parallel_map
COUNT = 3 * FEWEST
"""


def script(body, **options):
    return subprocess.run(
        [sys.executable, "-c", HEAD + body], env=environment(), capture_output=True, text=True, timeout=60, **options
    )


def test_results_keep_their_order():
    done = script(
        """
def work(number):
    time.sleep(0.001)
    return number, os.getpid()
made = list(parallel_map(COUNT, work))
assert [number for number, _ in made] == list(range(COUNT))
makers = {process for _, process in made[1:]}
assert len(makers) > 1 and os.getpid() not in makers
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_this_process_works_until_a_typical_result():
    done = script(
        """
made = list(parallel_map(COUNT, lambda number: (number, os.getpid()), is_typical=lambda made: made[0] == 5))
assert [number for number, _ in made] == list(range(COUNT))
assert [number for number, process in made if process == os.getpid()] == list(range(6))
here = list(parallel_map(COUNT, lambda number: os.getpid(), is_typical=lambda _: False))
assert here == [os.getpid()] * COUNT
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_little_work_stays_in_this_process():
    done = script("assert set(parallel_map(FEWEST - 1, lambda number: os.getpid())) == {os.getpid()}")
    assert (done.returncode, done.stderr) == (0, "")


def test_large_results_do_not_deadlock():
    """More than a pipe holds, from all of them at once."""
    done = script("assert sum(map(len, parallel_map(COUNT, lambda number: bytes(100_000)))) == COUNT * 100_000")
    assert (done.returncode, done.stderr) == (0, "")


def test_worker_exception_is_raised_in_turn():
    done = script(
        """
def work(number):
    if number in (200, 201):
        raise LookupError(number)
    return number
made = []
try:
    for number in parallel_map(COUNT, work):
        made.append(number)
except LookupError as fault:
    assert fault.args == (200,), fault
assert made == list(range(200)), made
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_killed_worker_is_an_error_and_stops_the_others():
    done = script(
        """
parent = os.getpid()
def work(number):
    if number == 150:
        os.kill(os.getpid(), 9)
    return number
try:
    list(parallel_map(COUNT, work))
except ChildProcessError as fault:
    print(fault)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody is left")
"""
    )
    assert done.stdout == ("a worker process was killed by signal 9; check the available memory\nnobody is left\n"), (
        done.stderr
    )


SLOW = """
def work(number):
    if number == 0:
        return
    with open(f"started-{os.getpid()}", "w"):
        time.sleep(60)
list(parallel_map(COUNT, work))
"""


def workers(directory):
    return [int(path.name.partition("-")[2]) for path in directory.glob("started-*")]


def lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("whole_group", [True, False], ids=["terminal", "process"])
def test_ctrl_c_stops_all_workers_without_a_traceback(whole_group, tmp_path):
    """A terminal sends SIGINT to all processes; a supervisor sends it to one."""
    running = subprocess.Popen(
        [sys.executable, "-c", HEAD + SLOW], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    eventually(lambda: len(workers(tmp_path)) > 1, "both workers work")
    (os.killpg if whole_group else os.kill)(running.pid, signal.SIGINT)
    started = time.monotonic()
    _, said = running.communicate(timeout=30)
    assert time.monotonic() - started < 20
    assert said.count("KeyboardInterrupt") == 1
    assert [process for process in workers(tmp_path) if lives(process)] == []


def test_workers_stop_soon_after_their_parent_dies(tmp_path):
    body = SLOW.replace("time.sleep(60)", "time.sleep(0.02)")
    running = subprocess.Popen([sys.executable, "-c", HEAD + body], cwd=tmp_path, env=environment())
    eventually(lambda: len(workers(tmp_path)) > 1, "both workers work")
    running.kill()
    running.wait(10)
    eventually(lambda: not any(map(lives, workers(tmp_path))), "the workers have ended")
