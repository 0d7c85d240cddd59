"""Ends of local runs: failures, signals, faulty data, and rejected options. No process remains."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from support.local.local_jobs import DEADLINE, LocalJob, script

TWO_HOSTS = "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}"


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def test_first_failing_host_decides(job):
    """The exit status of the job is its first failing host's; that of the command is 1: the job is at fault."""
    script(
        job,
        """
        import os, sys, time
        if os.environ["SM_CURRENT_HOST"] == "algo-2":
            print("loss=0.5")
            raise ValueError("the learning rate is too high")
        time.sleep(60)
        """,
        TWO_HOSTS,
    )
    started = time.monotonic()
    ended = job.run()
    assert ended.returncode == 1
    assert time.monotonic() - started < 30
    summary = job.summary()
    assert (summary["status"], summary["exit_status"], summary["failed_host"]) == ("Failed", 1, "algo-2")
    assert summary["failure_reason"].startswith("ExecuteUserScriptError: ValueError: the learning rate is too high")
    assert "failure  ExecuteUserScriptError: ValueError: the learning rate is too high" in ended.stdout
    assert [host["exit_status"] for host in summary["hosts"]] == [143, 1]


def test_exit_status_of_the_script_is_reported(job):
    script(job, "raise SystemExit(7)")
    ended = job.run()
    assert ended.returncode == 1
    assert job.summary()["exit_status"] == 7
    assert "job      job: Failed, exit status 7 after" in ended.stdout


def test_output_is_collected_from_a_failed_job_too(job):
    script(job, "import os; open(os.environ['SM_OUTPUT_DATA_DIR'] + '/why.txt', 'w').write('x'); raise SystemExit(1)")
    assert job.run().returncode == 1
    assert job.archive("output.tar.gz") == {"why.txt": b"x"}


def test_max_runtime_stops_the_job(job):
    """MaxRuntimeInSeconds: SageMaker stops the job when it is over."""
    script(job, "import time; print('up', flush=True); time.sleep(60)", "stopping: {max_runtime: 2s}")
    ended = job.run()
    assert ended.returncode == 1
    assert job.summary()["status"] == "Stopped"
    assert job.summary()["failure_reason"].startswith("MaxRuntimeExceeded")


PIPES = """
source: src/
entry_point: {pipe_loop: "reader:Reader", epochs: 1000}
input_mode: Pipe
channels: {train: {s3: "s3://data/train/", local: data/}}
hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
"""
READER = """
class Reader:
    def epoch(self, job, epoch, streams):
        for chunk in streams["train"]:
            pass
    def end(self, job):
        with open(job.model_dir + "/" + job.host, "w") as model:
            model.write("saved")
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGQUIT, 131)])
def test_signal_stops_the_job_in_order(job, number, status):
    """Every host gets SIGTERM and may save its model; then FIFOs and processes are gone."""
    job.spec(PIPES)
    job.write("src/reader.py", READER)
    job.write("data/a", random.Random(0).randbytes(1 << 20))
    process = job.start(rate="10MB")
    for host in ("algo-1", "algo-2"):
        job.wait_for_log("Completed epoch 2", host)
    process.send_signal(number)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == status
    assert "Stopped" in out
    assert job.archive() == {"algo-1": b"saved", "algo-2": b"saved"}
    assert job.summary()["failure_reason"] == f"stopped by {signal.Signals(number).name}"
    job.assert_nothing_left()


def test_terminal_ctrl_c_reaches_only_smspec(job):
    """A terminal sends SIGINT to its whole foreground group; hosts hear of it from us, as SIGTERM."""
    script(
        job,
        """
        import signal, sys, time
        signal.signal(signal.SIGINT, lambda *_: print("INT", flush=True))
        signal.signal(signal.SIGTERM, lambda *_: (print("TERM", flush=True), sys.exit(0)))
        print("up", flush=True)
        while True:
            time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
        """,
    )
    process = job.start()
    job.wait_for_log("up")
    for word in job.processes():
        if os.getpgid(int(word.split(":")[0])) == os.getpgid(process.pid):
            assert "smspec run" in word
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert "TERM" in job.log()
    assert "INT" not in job.log()


def test_second_ctrl_c_kills(job):
    script(
        job,
        """
        import os, signal, time
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"stopping\\n"))
        os.write(1, b"up\\n")
        while True:
            time.sleep(60)
        """,
    )
    process = job.start({"SMSPEC_STOP_GRACE": "60"})
    job.wait_for_log("up")
    process.send_signal(signal.SIGINT)
    job.wait_for_log("stopping")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    job.assert_nothing_left()


def test_killed_run_leaves_no_process(job):
    """After SIGKILL, hosts are ended by the kernel, and feeders by the end of stdin."""
    job.spec(PIPES)
    job.write("src/reader.py", READER)
    job.write("data/a", b"x" * 1000)
    process = job.start(rate="10000B/s")
    job.wait_for_log("Completed epoch 0", "algo-2")
    process.kill()
    process.communicate(timeout=DEADLINE)
    job.assert_nothing_left()


def test_processes_left_by_a_script_are_ended(job):
    script(
        job,
        """
        import os, subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        print("done")
        """,
    )
    started = time.monotonic()
    assert job.run().returncode == 0
    assert time.monotonic() - started < 30


def test_faulty_data_fail_the_job(job):
    """A stream that cannot be decompressed ends the job with a reason."""
    job.spec(PIPES.replace("local: data/}", "local: data/, compression: Gzip}"))
    job.write("src/reader.py", READER)
    job.write("data/a", gzip.compress(b"good"))
    job.write("data/b", b"bad")
    ended = job.run()
    assert ended.returncode == 1
    summary = job.summary()
    assert summary["status"] == "Failed"
    assert "channel `train`, epoch 0" in summary["failure_reason"]
    assert "is not a gzip file" in summary["failure_reason"]


def test_missing_channel_is_reported_before_writing(job):
    job.spec(PIPES.replace(", local: data/", ""))
    job.write("src/reader.py", READER)
    ended = job.run()
    assert ended.returncode == 1
    assert "error[SM360]: `channels.train.local` is not set" in ended.stderr
    assert not job.run_directory.exists()


def test_literal_container_path_is_reported(job):
    script(job, "print('/opt/ml/' + 'model')", "hyperparameters: {out: /opt/ml/model}")
    ended = job.run()
    assert ended.returncode == 0
    assert (
        "different from SageMaker: train.py:1, hyperparameter `out`: literal `/opt/ml/` paths do not work"
        in ended.stderr
    )


def test_script_that_uses_a_container_path_is_stopped(job):
    """Without a container, what is at the path is no part of the run: another job's checkpoints, or nothing."""
    script(job, "import os\nos.makedirs('/opt/ml/checkpoints', exist_ok=True)\n")
    refused(
        job,
        1,
        "train.py:2: `os.makedirs` uses `/opt/ml/checkpoints`, which is outside the run directory: "
        "use smspec_runtime.job().checkpoint_dir, or pass --allow-outside",
    )
    assert not os.path.exists("/opt/ml/checkpoints")
    script(job, "import os\nif os.path.exists(__file__): raise SystemExit(0)\nopen('/opt/ml/model/x', 'w')\n")
    assert job.run().returncode == 0
    script(job, "print(open('/opt/ml/no/such/file').read())\n")
    ended = job.run(**{"allow-outside": None})
    assert ended.returncode == 1
    assert "FileNotFoundError" in job.log()


def test_missing_package_suggests_another_python(job):
    # The name is put together, or the check before the run would report it.
    script(job, "import importlib; importlib.import_module('no_such_' + 'package.layers')")
    ended = job.run()
    assert ended.returncode == 1
    assert "has no module `no_such_package`: add it to `image.python_packages`, or" in ended.stderr


def refused(job: LocalJob, status: int, message: str, **request: object) -> None:
    ended = job.run(**request)
    assert ended.returncode == status, ended.stderr
    assert message in ended.stderr
    assert ended.stdout == ""
    assert not job.run_directory.exists()


@pytest.mark.parametrize("launcher", ["mpi", "smdataparallel"])
def test_ssh_launcher_needs_containers(job, launcher):
    hosts = "hosts: {instance_type: ml.p4d.24xlarge, count: 2, volume: 1GB}"
    script(job, "", f"distribution: {launcher}\n{hosts}\nchecks: {{ignore: [{{rule: SM558, because: x}}]}}")
    refused(job, 3, f"the engine `process` does not support `{launcher}`: it needs SSH between containers")


def test_script_inside_an_image_needs_a_container(job):
    job.spec("image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/xgboost:1")
    refused(job, 3, "the training script of this job is inside its image")
    refused(job, 3, "set `source` and `entry_point` in the spec")


def test_missing_launcher_is_reported_before_hosts_start(job):
    script(job, "", "distribution: torchrun\nchecks: {ignore: [{rule: SM558, because: x}]}")
    python = job.directory / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    lonely = {"PATH": str(python.parent)}
    ended = job.run(lonely)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "cannot find `torchrun` on PATH: add `torch` to `image.python_packages`, or" in ended.stderr
    assert not job.run_directory.exists()
    job.write("src/requirements.txt", "")  # what the job installs may bring it
    assert "torchrun" not in job.run(lonely).stderr.splitlines()[0]


def test_missing_python_is_reported(job):
    script(job, "")
    refused(job, 3, "cannot find `no-such-python`", python="no-such-python")
    refused(job, 3, "is not Python 3.8 or later", python="/bin/true")


def test_bad_arguments_exit_2(job):
    script(job, "")
    refused(job, 2, "expected a number of hosts, got `0`", hosts=0)
    refused(job, 2, "--data: the job has no channel `x`", data={"x": "y"})


def test_foreign_directory_is_not_overwritten(job):
    script(job, "")
    job.write("run/job/thesis.tex", "years of work")
    ended = job.run()
    assert ended.returncode == 1
    assert "smspec did not create it" in ended.stderr
    assert os.listdir(job.run_directory) == ["thesis.tex"]


def run_on_a_full_disk(job):
    """Run under a limit on the size of files, 1 MiB: as a full disk, without being root."""
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)); "
        "from smspec.cli import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", limited, *job.words()[3:]],
        cwd=job.directory,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )


def test_full_disk_is_reported_and_cleaned_up(job):
    """The environment are at fault; what was copied so far is taken away again."""
    script(job, "", 'channels: {train: {s3: "s3://data/train/", local: data/}}')
    job.write("data/a", b"x" * (4 << 20))
    ended = run_on_a_full_disk(job)
    assert ended.returncode == 3
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("smspec: ") and "file too large" in last and "Traceback" not in ended.stderr
    assert "run/job" in ended.stderr, "what has no room is named, not what was copied"
    assert not job.run_directory.exists()


@pytest.mark.parametrize(
    "program",
    [
        "os.mkfifo(failure)",
        "os.symlink('/dev/zero', failure)",
        "os.mkdir(failure)",
    ],
)
def test_special_failure_file_is_not_read(job, program):
    script(job, f"import os; failure = os.environ['SM_OUTPUT_DIR'] + '/failure'; {program}; raise SystemExit(3)")
    process = job.start()
    process.communicate(timeout=DEADLINE)
    failure = job.host() / "output" / "failure"
    if failure.is_fifo():
        failure.unlink()  # the program's, not one that feeds a channel
    assert process.returncode == 1
    assert job.summary()["failure_reason"] == "algo-1 exited with status 3 and wrote no failure file"


def test_script_may_remove_its_directories(job):
    script(
        job, "import os, shutil; shutil.rmtree(os.environ['SM_INPUT_DIR']); shutil.rmtree(os.environ['SM_MODEL_DIR'])"
    )
    ended = job.run()
    assert ended.returncode == 0
    assert "warning: algo-1: the script replaced its model directory" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_run_stopped_before_the_job_leaves_no_files(job, tmp_path, number):
    """The interpreter does not respond; further signals arrive during the cleanup."""
    script(job, "")
    job.write("python", f"#!/bin/sh\ntouch {job.directory}/asked\nexec sleep 60\n")
    (job.directory / "python").chmod(0o755)
    (tmp_path / "temporary").mkdir()
    process = job.start({"TMPDIR": str(tmp_path / "temporary")}, python=job.directory / "python")
    end = time.monotonic() + DEADLINE
    while not (job.directory / "asked").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    while process.poll() is None:
        assert time.monotonic() < end
        process.send_signal(number)
        time.sleep(0.001)
    assert process.returncode in (128 + number, -number), "the last signals come when it has handed in its handlers"
    process.communicate()
    assert os.listdir(tmp_path / "temporary") == []
    assert not job.run_directory.exists()


def test_nohup_is_respected(job):
    """Who starts a command with SIGHUP ignored wants it to outlive its terminal."""
    script(
        job, "import os, time; print('up', flush=True)\nwhile not os.path.exists(os.environ['GO']): time.sleep(0.02)"
    )
    process = subprocess.Popen(
        ["nohup", *job.words()],
        cwd=job.directory,
        env={**os.environ, "GO": str(job.directory / "go")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    job.process = process
    job.wait_for_log("up")
    process.send_signal(signal.SIGHUP)
    job.write("go", "")
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


def test_full_log_disk_is_reported_and_stops_the_job(job):
    script(job, "import time; print('x' * (2 << 20), flush=True); time.sleep(60)")
    ended = run_on_a_full_disk(job)
    assert ended.returncode == 3
    assert ended.stderr.endswith(f"smspec: `{job.run_directory}`: file too large\n")
