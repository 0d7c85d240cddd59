"""`smspec explain --failure`, offline, and what `status` and `logs` show of a job that failed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.servers.job_server import look
from support.smspec_command import environment, smspec

KILLED = "AlgorithmError: ExecuteUserScriptError: \nExitCode 1, exit code: -9"
FULL_GPU = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
TRAINING = look("InProgress", "Training", start=60, began=60)
COMPLETED = look("Completed", start=180, began=60, ended=180, billable=120)
FAILED = look("Failed", start=180, began=60, ended=180, billable=120, reason=KILLED)

VAGUE = look("Failed", start=180, began=60, ended=180, reason="AlgorithmError: ExecuteUserScriptError:\nExitCode 1")


@pytest.fixture
def server(sagemaker, monkeypatch, tmp_path):
    sagemaker.reset()
    monkeypatch.chdir(tmp_path)
    return sagemaker


def test_lines_of_a_screen_break_between_words(tmp_path):
    (tmp_path / "failure.txt").write_text(f"{KILLED}\n")
    narrow, wide = (smspec("explain", "--failure", "failure.txt", cwd=tmp_path, columns=many).out for many in (40, 500))
    assert narrow.split() == wide.split()
    assert [line for line in narrow.splitlines() if len(line) > 40 and not line.strip().startswith("http")] == []


def test_failure_of_a_file_is_explained(tmp_path):
    (tmp_path / "failure.txt").write_text(f"{KILLED}\n")
    done = smspec("explain", "--failure", "failure.txt", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith("likely cause: the kernel killed a process")
    assert "evidence: ExitCode 1, exit code: -9\n" in done.out
    assert "what to do: set `hosts.instance_type`" in done.out
    assert "retry helps: no, " in done.out and done.out.splitlines()[-1].startswith("see: https://")


def test_page_about_failures_shows_the_output(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "submit.md").read_text(encoding="utf-8")
    pasted, shown = (
        page.partition("$ cat failure.txt\n")[2].partition("```")[0].split("$ smspec explain --failure failure.txt\n")
    )
    (tmp_path / "failure.txt").write_text(pasted)
    assert smspec("explain", "--failure", "failure.txt", cwd=tmp_path).out == shown


def test_failure_of_stdin_is_explained_as_json():
    words = [sys.executable, "-m", "smspec", "explain", "--failure", "-", "--format", "json"]
    done = subprocess.run(words, input=FULL_GPU, env=environment(), capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    assert (record["cause"], record["retry"], record["evidence"]) == ("cuda-memory", "no", FULL_GPU)
    assert record["keys"] == ["hyperparameters", "hosts.instance_type"] and record["what_to_do"] and record["source"]


def test_unknown_failure_is_named_unknown(tmp_path):
    (tmp_path / "log").write_text("epoch 1\nKeyError: 'label'\n")
    assert smspec("explain", "--failure", "log", cwd=tmp_path).out == (
        "likely cause: unknown to smspec\nlast error: KeyError: 'label'\n"
    )
    record = json.loads(smspec("explain", "--failure", "log", "--format", "json", cwd=tmp_path).out)
    assert (record["cause"], record["keys"], record["evidence"]) == (None, [], "KeyError: 'label'")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_failure_that_a_windows_shell_wrote_is_read(encoding, tmp_path):
    text = json.dumps({"TrainingJobName": "a", "FailureReason": f"AlgorithmError: {FULL_GPU}"})
    (tmp_path / "failure.json").write_bytes(text.encode(encoding))
    out = smspec("explain", "--failure", "failure.json", cwd=tmp_path).out
    assert f"evidence: AlgorithmError: {FULL_GPU} (FailureReason)\n" in out


@pytest.mark.parametrize(
    "words", [("--failure", "missing"), ("--failure", "."), ("--failure", "empty"), ("SM204", "--failure", "log")]
)
def test_failures_that_cannot_be_read_exit_2(words, tmp_path):
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "log").write_text(FULL_GPU)
    assert smspec("explain", *words, cwd=tmp_path).status == 2
    assert smspec("explain", "SM204", "--format", "json").status == 2


def test_status_reads_the_log_of_a_vague_reason(server):
    server.jobs["nightly"] = [FAILED]
    server.log("algo-2", 170, "RuntimeError: Connection reset by peer")
    server.log("algo-1", 169, FULL_GPU)
    out = smspec("status", "nightly").out
    assert "likely cause: the memory of a GPU is full (cuda-memory)\n" in out
    assert f"evidence: {FULL_GPU} (algo-1)\n" in out
    assert "now: `hosts.instance_type` is ml.m5.large\n" in out
    record = json.loads(smspec("status", "nightly", "--format", "json").out)
    assert record["diagnosis"]["cause"] == "cuda-memory"
    assert record["likely_cause"] == record["diagnosis"]["likely_cause"]


def test_status_of_a_clear_reason_asks_for_no_log(server):
    server.jobs["nightly"] = [look("Failed", start=180, reason=f"AlgorithmError: {FULL_GPU}")]
    assert "(cuda-memory)" in smspec("status", "nightly").out
    assert server.asked["DescribeLogStreams"] == 0


def test_status_shows_why_the_log_was_not_read(server):
    server.jobs["nightly"] = [VAGUE]
    server.faults["DescribeLogStreams"] = [(400, "AccessDeniedException")] * 2
    unread = "unknown, its log was not read: AWS denies `logs:DescribeLogStreams`"
    assert f"likely cause: {unread}\n" in smspec("status", "nightly").out
    record = json.loads(smspec("status", "nightly", "--format", "json").out)
    assert (record["diagnosis"]["cause"], record["diagnosis"]["unknown"]) == (None, unread)


@pytest.mark.parametrize("words", [["--tail", "1"], ["--host", "algo-2"], ["--since", "2030-01-01"]])
@pytest.mark.parametrize("follow", [[], ["--follow"]])
def test_cause_is_found_in_lines_that_are_not_shown(server, words, follow):
    server.jobs["nightly"] = [VAGUE]
    server.log("algo-1", 169, FULL_GPU, "bye")
    done = smspec("logs", "nightly", *words, *follow)
    assert done.status == 1 and FULL_GPU not in done.out
    assert f"evidence: {FULL_GPU} (algo-1)\n" in done.err


def test_status_without_logs_has_the_cause_of_the_reason(server):
    server.jobs["nightly"] = [FAILED]
    server.faults["DescribeLogStreams"] = [(400, "AccessDeniedException")] * 9
    done = smspec("status", "nightly")
    assert done.status == 0 and "(host-memory)" in done.out


@pytest.mark.parametrize(("now", "status", "state"), [(COMPLETED, 0, "Completed"), (FAILED, 1, "Failed")])
def test_logs_of_a_finished_job_end_with_its_state(server, now, status, state):
    server.jobs["nightly"] = [now]
    server.log("algo-1", 169, "epoch 1", FULL_GPU)
    done = smspec("logs", "nightly")
    assert done.status == status
    assert done.out == f"algo-1 | epoch 1\nalgo-1 | {FULL_GPU}\n"
    assert done.err.startswith(f"nightly: {state} after 2 min 00 s, 2 min 00 s billed")
    assert ("likely cause: the memory of a GPU is full" in done.err) == (state == "Failed")


def test_logs_of_a_job_that_was_stopped_exit_1(server):
    server.jobs["nightly"] = [look("Stopped", "MaxRuntimeExceeded", start=180, began=60, ended=180)]
    done = smspec("logs", "nightly")
    assert (done.status, done.out) == (1, "")
    assert "the job `nightly` has no log\n" in done.err
    assert "likely cause: the job reached `stopping.max_runtime` (max-runtime)\n" in done.err
    assert "now: `stopping.max_runtime` is 3600s" in done.err


def test_followed_job_ends_with_its_cause(server):
    server.jobs["nightly"] = [TRAINING, FAILED]
    server.log("algo-1", 61, FULL_GPU)
    done = smspec("logs", "nightly", "--follow")
    assert done.status == 1 and f"evidence: {FULL_GPU} (algo-1)\n" in done.err
