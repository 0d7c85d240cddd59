"""A run ends by itself, and so does the next one, whatever a script puts where smspec reads after the job."""

from __future__ import annotations

import json
import os

import pytest

from smspec.local.engines.namespace.availability import probe
from support.forked_command import forked_command
from support.local.local_jobs import DEADLINE, LocalJob, script
from support.sampled_cases import left_out

PLANTING = """
import multiprocessing, os, shutil, socket, sys

def plant(kind, path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(path)
    elif kind == "device":
        os.mknod(path, 0o020666, os.makedev(1, 5))
    elif kind == "directory":
        os.makedirs(path + "/below")
    elif kind == "sparse file":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    else:
        os.symlink({"link to zeros": "/dev/zero", "link to itself": os.path.basename(path)}[kind], path)

if __name__ == "__main__":
    pool = multiprocessing.Pool(2)  # never closed
    print("POOL", pool.map(len, ["", "a"]), flush=True)
    base = os.path.dirname(os.environ["SM_MODEL_DIR"])
    os.chdir(base)  # a socket needs a short path
    for place in os.environ["PLACES"].split():
        try:
            plant(os.environ["KIND"], place)
        except OSError as fault:
            print("NOT PLANTED", place, fault, flush=True)
    sys.exit(int(os.environ["STATUS"]))
"""
KINDS = ("FIFO", "link to zeros", "link to itself", "sparse file", "directory", "device", "socket")
BELOW = (
    *("model/file", "model/below/file", "output/failure", "output/metrics/sagemaker/algo-1.json", "output/data/file"),
    *("output/tensorboard", "output/profiler", "checkpoints/file"),
)
INSTEAD = ("output/failure", "model", "output/data", "output/metrics", "checkpoints")
OF_THE_RUN = (
    *("summary.json", "report.html", "model.tar.gz", "model.tar.gz.part", "output.tar.gz", "model", "output"),
    *("logs/algo-1.log", "result", "run.json"),
)
PLACES = {"below": BELOW, "instead": INSTEAD, "of the run": tuple(f"../../../../{name}" for name in OF_THE_RUN)}


IN_NAMESPACES = ("FIFO", "device")
"""A host has its files for itself; what is read after the job, and how, is the same for both engines."""


@pytest.mark.parametrize(
    ("engine", "kind"),
    [("process", kind) for kind in KINDS]
    + [("namespace", kind) if kind in IN_NAMESPACES else left_out("namespace", kind) for kind in KINDS],
)
@pytest.mark.parametrize("places", PLACES)
def test_run_ends_by_itself(tmp_path, engine, kind, places):
    """Where a script replaced the marker, the next run leaves the directory alone."""
    if engine == "namespace" and (places == "of the run" or probe().step):
        pytest.skip("namespaces are unavailable, or hide the directory of the run")
    job = LocalJob(tmp_path / "job", engine=engine)
    facts = {"KIND": kind, "PLACES": " ".join(PLACES[places]), "STATUS": "01"[places == "instead"]}
    script(job, PLANTING, f'checkpoints: "s3://models/c/"\nenvironment: {json.dumps(facts)}\n')
    for turn in range(2):
        process = job.start()
        _, err = process.communicate(timeout=DEADLINE)
        was_left_alone = turn == 1 and "is not empty and smspec did not create it" in err
        assert "algo-1 | POOL [0, 1]" in err or was_left_alone, err
        assert process.returncode == (places == "instead" or was_left_alone), err
        assert job.processes() == []
        words = ["collect", str(job.run_directory), "-o", str(tmp_path / f"got{turn}")]
        collected = forked_command(*words, timeout=DEADLINE, env={**os.environ})
        assert "Traceback" not in collected.err
        assert collected.status in (0, 1, 2, 3), collected.err
