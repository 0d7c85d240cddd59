"""The job API of scripts: types, slices, threads, workers, and printed values."""

import os
import pickle
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runtime.container import RUNTIME, Container

sys.path.insert(0, str(RUNTIME))

from smspec_runtime.cluster import Cluster
from smspec_runtime.layout import Layout
from smspec_runtime.run_plan import RunSettings
from smspec_runtime.training_job import Job, read_job

TYPED = """
from typing import Any, Dict, List, Sequence

import smspec_runtime

job = smspec_runtime.job()
hyperparameters: Dict[str, Any] = job.hyperparameters
places: List[str] = [job.model_dir, job.output_dir, job.checkpoint_dir]
places += [job.host, *job.hosts]
numbers: List[int] = [job.host_rank, *job.rows(10)]
claims: List[bool] = [job.is_leader, job.is_local, job.stopping]
names: Sequence[str] = job.shard(["a", "b"])
for name, channel in job.channels.items():
    places += [channel.name, channel.path, channel.mode, str(channel.config)]
for stream in job.channel("train").epochs(2):
    for line in stream.lines():
        print(bytes(line))
for record in smspec_runtime.pipe.open("path").recordio():
    print(len(record))
"""


def job_of(rank=0, count=1, **members):
    hosts = [f"algo-{number + 1}" for number in range(count)]
    cluster = Cluster(hosts=hosts, current_host=hosts[rank])
    how = {"hyperparameters": {}, "channels": {}, "settings": RunSettings(), "checkpoint_dir": "", **members}
    return Job(cluster=cluster, layout=Layout(), **how)


@given(total=st.integers(0, 10**12), count=st.integers(1, 40))
def test_rows_are_disjoint_complete_and_balanced(total, count):
    slices = [job_of(rank, count).rows(total) for rank in range(count)]
    assert slices[0].start == 0
    assert slices[-1].stop == total
    assert all(left.stop == right.start for left, right in pairwise(slices))
    lengths = [len(rows) for rows in slices]
    assert max(lengths) - min(lengths) <= 1


@given(sequence=st.lists(st.integers()) | st.text() | st.binary(), count=st.integers(1, 12))
def test_shards_together_are_the_sequence(sequence, count):
    """Of its own type: a slice of a text is a text, of an array an array."""
    shards = [job_of(rank, count).shard(sequence) for rank in range(count)]
    assert all(isinstance(shard, type(sequence)) for shard in shards)
    whole = shards[0]
    for shard in shards[1:]:
        whole = whole + shard
    assert whole == sequence


def test_repr_is_short_without_secrets():
    secrets = {"api_key": "sk-123456", "db_password": "hunter2", "db": {"password": "hunter2"}}
    job = job_of(1, 2000, hyperparameters={"lr": 0.1, **secrets})
    shown = repr(job)
    assert shown == str(job)
    assert "'lr': 0.1" in shown
    assert "algo-2 of 2000 hosts" in shown
    assert "sk-123456" not in shown
    assert "hunter2" not in shown
    assert len(shown) < 200


def test_job_can_be_pickled():
    job = job_of(1, 3, hyperparameters={"layers": [1, 2]})
    received = pickle.loads(pickle.dumps(job))
    assert received.layout.root == job.layout.root
    assert received._replace(layout=job.layout) == job


def test_completion_offers_the_members():
    import smspec_runtime

    assert sorted(dir(smspec_runtime)) == ["job", "pipe"]
    offered = {name for name in dir(job_of()) if not name.startswith("_")}
    assert {"hyperparameters", "channels", "channel", "hosts", "host_rank", "rows", "shard", "stopping"} <= offered


def test_strict_type_checker_accepts_the_api(tmp_path):
    """Against the installed package, as the author of a script runs it."""
    pytest.importorskip("mypy")
    try:
        installed = files("smspec")
    except PackageNotFoundError:
        installed = None
    if not installed:
        pytest.skip("smspec is not installed for this interpreter")
    (tmp_path / "train.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "train.py"]
    environ = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "train.py").write_text(TYPED + "job.host_rank + 'x'\njob.channel(3)\njob.no_such_member\n")
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300)
    assert done.stdout.count(": error: ") == 3, done.stdout


THREAD = """
import threading, time, os, signal, smspec_runtime
job = smspec_runtime.job()
seen = []
def ask():
    seen.append(job.stopping)
thread = threading.Thread(target=ask); thread.start(); thread.join()
assert seen == [False], seen
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # Nothing can be caught from a thread; nothing breaks either.
assert not job.stopping
os.kill(os.getpid(), signal.SIGTERM)
while not job.stopping: time.sleep(0.01)
thread = threading.Thread(target=ask); thread.start(); thread.join()
print(seen)
"""


def test_other_threads_may_ask(any_python, tmp_path):
    container = Container(tmp_path / "ml", any_python)
    done = container.run_script(THREAD)
    assert (done.status, done.stdout) == (0, b"[False, True]\n"), done.stderr


WORKERS = """
import multiprocessing, os, sys, smspec_runtime
job = smspec_runtime.job()
def work(number):
    own = smspec_runtime.job()
    return [own.host_rank, job.hyperparameters["lr"], list(own.rows(4))]
if __name__ == "__main__":
    job.stopping
    with multiprocessing.get_context(sys.argv[-1]).Pool(2) as pool:  # Leaving it terminates the workers.
        print(pool.map(work, range(2)))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_job_and_can_be_terminated(tmp_path, method):
    """As those of a DataLoader: a pool ends its workers by SIGTERM, and must not wait for them for ever."""
    container = Container(tmp_path / "ml")
    container.configure({"lr": "0.1"}, hosts=["localhost", "127.0.0.1"], current="127.0.0.1")
    container.write("code/train.py", WORKERS)
    plan = {"kind": "script", "program": "train.py", "arguments": [method], "args_style": "none"}
    done = container.run(plan=plan)
    assert (done.status, done.stdout) == (0, b"[[1, 0.1, [2, 3]], [1, 0.1, [2, 3]]]\n"), done.stderr


BUSY = """
import multiprocessing, time, smspec_runtime
assert not smspec_runtime.job().stopping
worker = multiprocessing.get_context("fork").Process(target=sum, args=(range(10**12),))
worker.start()
while int(open(f"/proc/{worker.pid}/stat").read().rpartition(")")[2].split()[11]) < 20:  # ticks of computing
    time.sleep(0.01)
worker.terminate()
worker.join(5)
print(worker.exitcode, smspec_runtime.job().stopping)
worker.kill()
"""


def test_forked_worker_that_runs_no_python_can_be_terminated(any_python, tmp_path):
    """No handler written in Python would be called while C code computes."""
    done = Container(tmp_path / "ml", any_python).run_script(BUSY)
    assert (done.status, done.stdout) == (0, b"-15 False\n"), done.stderr


def test_job_outside_sagemaker_writes_no_file(tmp_path):
    """In a notebook there is neither a tree nor anything to write to; asking makes nothing."""
    job = read_job({"SAGEMAKER_BASE_DIR": str(tmp_path)})
    assert job.is_local == (not os.path.isdir("/opt/ml/input/config"))
    assert list(tmp_path.iterdir()) == []
    assert not (Path.cwd() / "model").exists()


def test_every_attribute_is_documented():
    page = (Path(__file__).parents[2] / "docs/runtime.md").read_text(encoding="utf-8")
    offered = {name for name in vars(Job) if not name.startswith("_")} | set(Job._fields)
    for name in offered - {"count", "index"}:
        assert f"`job.{name}" in page, name
