"""A run always ends with its summary: what a job leaves that cannot be read or packed is named and left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from smspec.local.engines.namespace.availability import probe
from support.local.local_jobs import DEADLINE, LocalJob, script
from support.local.ordinary_user import OrdinaryJob, ended, kind_of
from support.sampled_cases import left_out

LEAVING = """
import os, sys
sys.setrecursionlimit(10_000)
base = os.path.dirname(os.environ["SM_MODEL_DIR"])

def nested(path, count, name):
    os.makedirs(path, exist_ok=True)
    os.chdir(path)
    for _ in range(count):
        os.mkdir(name)
        os.chdir(name)
    open("file", "w").close()
    os.chdir("/")

def without_rights(path, mode):
    os.makedirs(path + "/inner", exist_ok=True)
    open(path + "/inner/file", "w").close()
    os.chmod(path, mode)

def leave(kind, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "link to itself":
        os.symlink(os.path.basename(path), path)
    elif kind == "links to each other":
        os.symlink("second", path)
        os.symlink(os.path.basename(path), os.path.join(os.path.dirname(path), "second"))
    elif kind == "link to its parent":
        os.symlink("..", path)
    elif kind == "link below a file":
        open(path + "-file", "w").close()
        os.symlink(os.path.basename(path) + "-file/below", path)
    elif kind == "link that is too long":
        os.symlink("x" * 4000, path)
    elif kind == "many links":
        for number in range(3000):
            os.symlink("loop", f"{path}{number}")
    elif kind == "deep":
        nested(path, 3000, "d")
    elif kind == "deep with long names":
        nested(path, 40, "n" * 255)
    elif kind == "as deep as possible":
        length = 4094 - len(path) - len("/file")
        nested(path, length // 2, "d")
    elif kind == "file without rights":
        open(path, "w").close()
        os.chmod(path, 0)
    elif kind == "surrogates":
        open(os.fsencode(path) + bytes([0xFF, 0x0A, 0x1B]), "w").close()
    else:
        without_rights(path, {"none": 0, "no listing": 0o311, "no search": 0o400, "no writing": 0o555}[kind])

for place in ("model/left", "output/data/left", "checkpoints/left"):
    leave(os.environ["KIND"], os.path.join(base, place))
    open(os.path.join(base, os.path.dirname(place), "kept"), "w").close()
print("LEFT", flush=True)
"""
KINDS = (
    *("link to itself", "links to each other", "link to its parent", "link below a file", "link that is too long"),
    *("many links", "deep", "deep with long names", "as deep as possible", "file without rights", "surrogates"),
    *("none", "no listing", "no search", "no writing"),
)
KEPT = ("surrogates", "no writing", "as deep as possible")
OF_ROOT = ("file without rights", "none", "no listing", "no search")
"""Root of this machine can read them."""


def prepared(kind: type[LocalJob], directory: Path, engine: str, left: str) -> LocalJob:
    job = kind(directory / "job", engine=engine)
    keys = (
        f'checkpoints: "s3://models/c/"\nenvironment: {json.dumps({"KIND": left})}\noutput: {{s3: "s3://models/j/"}}\n'
    )
    script(job, LEAVING, keys)
    return job


@pytest.fixture(params=[LocalJob, OrdinaryJob], ids=["root", "user"])
def kind(request):
    return kind_of(request)


OF_A_USER = (*OF_ROOT, "link to itself", "link that is too long", "deep with long names")
"""Of the others, a user can read as much as root."""


@pytest.mark.parametrize(
    ("kind", "engine", "left"),
    [
        *(
            left_out(LocalJob, "process", left) if left in ("deep", "many links") else (LocalJob, "process", left)
            for left in KINDS
        ),
        *(
            (OrdinaryJob, "process", left) if left in OF_A_USER else left_out(OrdinaryJob, "process", left)
            for left in KINDS
        ),
        *((LocalJob, "namespace", left) for left in ("link to itself", "none")),
        left_out(LocalJob, "namespace", "deep"),
        *((OrdinaryJob, "namespace", left) for left in ("link to itself", "deep", "none")),
    ],
    indirect=["kind"],
)
def test_run_summarizes_what_it_cannot_keep(kind, engine, left, public_directory):
    if engine == "namespace" and probe().step:
        pytest.skip(f"namespaces are unavailable: {probe().step}")
    job = prepared(kind, public_directory, engine, left)
    for _ in range(2 if left == "none" else 1):  # the next run removes what the first one left
        process = job.start()
        out, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, err
        assert "Traceback" not in err + job.log()
        assert job.summary()["status"] == "Completed"
        assert "job: Completed" in out
        assert "kept" in job.archive()
        lines = [line for line in err.splitlines() if "smspec ignores" in line]
        assert max(map(len, err.splitlines())) < 1000
        is_read = left in KEPT or (left in OF_ROOT and kind is LocalJob and os.geteuid() == 0)
        assert bool([line for line in lines if "`left" in line and " in model " in line]) != is_read, err
        assert len(lines) < 50


@pytest.mark.parametrize("left", ["link to itself", left_out("deep"), left_out("none"), "file without rights"])
def test_rehearsal_ends_with_its_report(kind, left, public_directory):
    job = prepared(kind, public_directory, "process", left)
    done = ended(job, "rehearse", "--engine", "process", "--only", "spot", "--patience", "20s")
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert (job.directory / "rehearsal/job/rehearsal.json").exists(), done.stderr
