"""`smspec run --memory`: hosts that use more than they have."""

import json
import re
import sys

import pytest

from support.local.local_jobs import LocalJob, script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show the memory of processes")

# Three processes, of which none alone is above the limit.
SCRIPT = """
    import multiprocessing, sys, time

    def hold(megabytes):
        held = bytearray(megabytes * 1_000_000)
        for page in range(0, len(held), 4096):
            held[page] = 1
        time.sleep(2)

    if __name__ == "__main__":
        children = [multiprocessing.Process(target=hold, args=(size,)) for size in (60, 140, 60)]
        [child.start() for child in children]
        [child.join() for child in children]
        sys.exit(next((128 - child.exitcode for child in children if child.exitcode), 0))
"""


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job", engine="auto")
    script(job, SCRIPT)
    return job


def test_largest_process_is_killed_when_memory_runs_out(job):
    ended = job.run(memory="200MB")
    summary = job.summary()
    assert (summary["status"], summary["exit_status"]) == ("Failed", 137), ended.stderr
    (warning,) = summary["warnings"]
    assert re.fullmatch(
        r"out of memory: the processes of algo-1 used 2\d\d MB, the limit is 200 MB; "
        r"killed the largest one, with \d+(\.\d)? MB: python\S* train.py",
        warning,
    )
    (host,) = summary["hosts"]
    assert 200e6 < host["total_memory"] < 290e6
    assert host["total_memory"] > host["peak_memory"]


def test_job_within_the_memory_of_its_instance_completes(job):
    ended = job.run(memory="auto")
    assert ended.returncode == 0, ended.stderr
    assert job.summary()["warnings"] == []
    assert re.search(r"in the largest process, \d+ MB in all together", ended.stdout)


def test_memory_of_an_unknown_type_needs_a_size(job):
    text = (job.directory / "job.yaml").read_text().replace("ml.m5.large", "ml.p6e-gb200.36xlarge")
    (job.directory / "job.yaml").write_text(text)
    ended = job.run(memory="auto")
    assert ended.returncode == 2
    assert "the memory of `ml.p6e-gb200.36xlarge` is unknown; pass a size such as --memory 16GB" in ended.stderr


def test_memory_needs_a_unit_that_is_known(job):
    ended = job.run(memory="16gb")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "expected `auto` or a size" in ended.stderr and "did you mean `16GB`?" in ended.stderr


def test_result_without_a_limit_has_no_total(job):
    job.write("src/train.py", "print('trained')\n")
    (host,) = json.loads(job.run(format="json").stdout)["hosts"]
    assert host["total_memory"] is None
