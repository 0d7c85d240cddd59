"""A run never changes its inputs: scripts may do anything in their directories."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from support.local.local_jobs import LocalJob

SEEDS = int(os.environ.get("SMSPEC_HOSTILE_RUNS", "4"))
SPEC = """
extends: [bases/team.yaml]
source: src/
entry_point: train.py
channels:
  file: {s3: "s3://data/file/", local: data/}
  fast: {s3: "s3://data/fast/", local: data/, input_mode: FastFile}
  pipe: {s3: "s3://data/pipe/", local: data/, input_mode: Pipe}
  listed: {s3: "s3://data/listed", s3_data_type: ManifestFile, local: manifest.json}
checkpoints: {s3: "s3://models/checkpoints/"}
"""
HOSTILE = """
import os, random, shutil, stat, sys

seed = int(os.environ["SEED"])
chance = random.Random(seed)
run = os.path.abspath(os.path.join(os.environ["SM_INPUT_DIR"], *[os.pardir] * 5))
author = os.environ["AUTHOR"]  # only ever the target of a link: what smspec does through it is what counts

def write(path):
    if stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "w") as file:
            file.write("spoilt")

def append(path):
    if stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "ab") as file:
            file.write(b"spoilt")

def truncate(path):
    os.truncate(path, 1)

def remove(path):
    if os.path.isdir(path):  # rmtree opens a FIFO, and waits for its writer
        shutil.rmtree(path)

def link(path):
    os.unlink(path)
    os.symlink(chance.choice([author + "/data/a", author + "/data", author + "/job.yaml", author]), path)

def replace(path):
    os.rename(path, path + ".moved")
    os.symlink(author + "/data", path)

def names(above):
    for directory, directories, files in os.walk(above, followlinks=True):
        if os.path.realpath(directory).startswith(os.path.realpath(run)):
            yield from (os.path.join(directory, name) for name in (*directories, *files))

ACTS = [
    write, append, truncate, link, replace, os.unlink, remove,
    lambda path: os.chmod(path, chance.choice([0, 0o777])), lambda path: os.utime(path, (0, 0)),
    lambda path: os.setxattr(path, "user.spoilt", b"1"), lambda path: os.rename(path, path + ".moved"),
]
above = chance.choice([run, os.path.join(run, "hosts")])
print("inputs", sum(1 for path in names(os.environ["SM_INPUT_DIR"])))
for path in [path for path in names(above) if chance.random() < 0.7]:
    # A file found through a link is the program's only if it lies in the run.
    if os.path.realpath(path).startswith(os.path.realpath(run) + os.sep):
        try:
            chance.choice(ACTS)(path)
        except OSError:
            pass
if not os.path.realpath(run).endswith("run/job"):
    sys.exit(1)
for name in ("summary.json", "report.html", "model.tar.gz", "model.tar.gz.part", "output", "output.tar.gz"):
    try:
        os.symlink(chance.choice([author + "/data/a", author + "/data"]), os.path.join(run, name))
    except OSError:
        pass
pipes = ("pipe_0", "pipe_1", "pipe_2")
if not os.path.realpath(os.environ["SM_INPUT_DIR"] + "/data").startswith(os.path.realpath(run) + os.sep):
    pipes = ()
for name in pipes:
    path = os.path.join(os.environ["SM_INPUT_DIR"], "data", name)
    try:
        os.unlink(path)
    except OSError:
        pass
    try:
        os.symlink(author + "/data/a", path)
    except OSError:
        pass
sys.exit(chance.choice([0, 1]))
"""


def state(directory: Path) -> dict[str, tuple[object, ...]]:
    """Return what there is of an author's files: names, modes, times, links, attributes and bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if name.split("/")[0] == "run":
            continue
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else ""
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        attributes = os.listxattr(path, follow_symlinks=False) if hasattr(os, "listxattr") else []
        times = 0 if path.is_dir() and not path.is_symlink() else status.st_mtime_ns
        found[name] = (status.st_mode, status.st_nlink, times, content, tuple(attributes))
    return found


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(SPEC)
    job.write("bases/team.yaml", "smspec: v1\ntags: {team: ads}\n")
    job.write("src/train.py", HOSTILE)
    job.write("manifest.json", '[{"prefix": "data/"}, "a", "sub/b"]')
    return job


def data(job: LocalJob, chance: random.Random) -> None:
    """Make a tree with links inside, of files and directories, and read-only files."""
    job.write("data/a", chance.randbytes(10_000))
    job.write("data/sub/b", chance.randbytes(100))
    for number in range(chance.randrange(8)):
        path = "/".join(chance.choice("xyz") for _ in range(chance.randrange(1, 3)))
        job.write(f"data/d{number}/{path}", chance.randbytes(chance.randrange(50)))
    os.chmod(job.directory / "data" / "sub" / "b", 0o400)
    (job.directory / "elsewhere").mkdir()
    (job.directory / "elsewhere" / "file").write_text("elsewhere")
    os.symlink("a", job.directory / "data" / "link")
    os.symlink("../elsewhere", job.directory / "data" / "directory")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_script_cannot_change_the_inputs_of_its_run(job, seed):
    """Two runs, for the second one takes up what the first left."""
    data(job, random.Random(seed))
    before = state(job.directory)
    for turn in range(2):
        ended = job.run({"SEED": str(seed * 2 + turn), "AUTHOR": str(job.directory)})
        assert state(job.directory) == before
        # The program may have removed the marker of its run, and then the next one leaves the directory alone.
        assert "algo-1 | inputs" in ended.stderr or (turn == 1 and "run/job" in ended.stderr)
        assert ended.returncode in (0, 1, 3)


def test_data_inside_a_run_directory_are_kept(job):
    """What a run would empty is not read by it; links to it are found too."""
    job.write("src/train.py", "import os; open(os.environ['SM_MODEL_DIR'] + '/model', 'w').write('trained')")
    data(job, random.Random(0))
    assert job.run().returncode == 0
    before = {path: path.read_bytes() for path in job.run_directory.rglob("*") if path.is_file()}
    for source in ("hosts/algo-1/opt/ml/model", "model.tar.gz"):
        ended = job.run(data={"file": job.run_directory / source})
        assert ended.returncode == 2
        assert "which the run would delete; pass a different directory with -o" in ended.stderr
    os.symlink(job.run_directory / "model.tar.gz", job.directory / "data" / "previous")
    ended = job.run()
    assert ended.returncode == 2, ended.stderr
    assert {path: path.read_bytes() for path in job.run_directory.rglob("*") if path.is_file()} == before


def test_run_directory_inside_the_data_is_rejected(job):
    data(job, random.Random(0))
    ended = job.run(data={"file": job.directory})
    assert ended.returncode == 2
    assert "is inside the data of channel `file`" in ended.stderr
    assert not job.run_directory.exists()
