"""`smspec status`, `logs`, and `stop` against a scripted SageMaker."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest

from smspec.cli.console import UsageError
from smspec.cli.logs import milliseconds
from smspec.plan import digest
from support.servers.job_server import look
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec

TRAINING = look("InProgress", "Training", message="Training in progress.", start=60, began=60)
COMPLETED = look("Completed", start=180, began=60, ended=180, billable=120)
REASON = "AlgorithmError: ExecuteUserScriptError: ValueError: no data\nExitCode 3\nTraceback …, exit code: 3"
FAILED = look("Failed", start=180, began=60, ended=180, billable=120, reason=REASON)


OPEN = (
    "smspec: v1\nname: small\nrole: arn:aws:iam::111122223333:role/SageMakerTraining\noutput: s3://bucket/small/\n"
    "hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}\n"
    "api: {AlgorithmSpecification: {AlgorithmName: mine}}\n"
)
"""Its region is open."""


@pytest.fixture
def server(sagemaker, monkeypatch, tmp_path):
    sagemaker.reset()
    sagemaker.jobs["nightly"] = [TRAINING]
    monkeypatch.chdir(tmp_path)
    return sagemaker


def test_status_of_a_job_that_trains(server):
    done = smspec("status", "nightly")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[:2] == [
        "nightly, 2 × ml.m5.large, created 2023-11-14T22:13:20Z",
        "2023-11-14T22:14:20Z  Training: Training in progress.",
    ]
    assert done.out.splitlines()[2].startswith("Training for ") and "of at most 1 h 00 min" in done.out


def test_status_of_a_failed_job_has_its_cause_and_the_fix(server):
    reason = "ClientError: Data download failed:Insufficient disk space"
    output = {"OutputDataConfig": {"S3OutputPath": "s3://bucket/out/"}}
    full = look("Failed", start=180, began=60, ended=180, reason=reason, members=output)
    server.jobs["nightly"] = [full]
    out = smspec("status", "nightly").out
    assert f"nightly: Failed after 2 min 00 s\nreason: {reason}\n" in out
    assert "likely cause: a volume of a host is full" in out
    assert "what to do: increase `hosts.volume`" in out
    assert "result:" not in out


def test_status_as_json(server):
    server.jobs["nightly"] = [FAILED]
    record = json.loads(smspec("status", "nightly", "--format", "json").out)
    assert {name: record[name] for name in ("status", "exit_status", "billable_seconds", "training_ended")} == {
        "status": "Failed",
        "exit_status": 3,
        "billable_seconds": 120,
        "training_ended": "2023-11-14T22:16:20Z",
    }


def test_status_of_a_directory_shows_the_jobs_of_all_specs(server, tmp_path):
    write_job(tmp_path / "bert", BUILT + "job_name: nightly\noverlays: {dev: {job_name: never}}\n")
    request = json.loads(smspec("render", "bert/job.yaml", "--api-json").out)
    identity = {name: value for name, value in request.items() if name != "Tags"}
    server.put(request, TRAINING, tags=[f"smspec:digest={digest(identity)}"])
    done = smspec("status", ".")
    assert done.status == 0, done.err
    assert [line.split()[:3] for line in done.out.splitlines()[1:]] == [
        ["bert/job.yaml", "nightly", "InProgress,"],
        ["bert/job.yaml", "(dev)", "never"],
    ]
    assert done.out.splitlines()[2].endswith("not submitted")
    records = json.loads(smspec("status", ".", "--format", "json").out)
    assert [each["job"] and each["job"]["status"] for each in records] == ["InProgress", None]


@pytest.mark.parametrize("words", [("status", "no/such"), ("logs", "-x-"), ("stop", "a" * 64), ("status", "a--")])
def test_words_that_are_no_name_exit_2(server, words):
    assert smspec(*words).status == 2


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_missing_job_exits_1(server, command):
    done = smspec(command, "weekly")
    assert (done.status, done.out) == (1, "")
    assert "the job `weekly` in us-west-2: requested resource not found" in done.err


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_denied_call_exits_3_and_names_the_action(server, command):
    server.faults["DescribeTrainingJob"] = [(400, "AccessDeniedException")]
    done = smspec(command, "nightly")
    assert done.status == 3
    assert "AWS denies `sagemaker:DescribeTrainingJob`; allow it in an IAM policy" in done.err


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_wrong_clock_is_named(server, command):
    said = "Signature expired: 20260101T000000Z is now earlier than 20260102T000000Z"
    server.faults["DescribeTrainingJob"] = [(400, "InvalidSignatureException", said)] * 9
    done = smspec(command, "nightly")
    assert done.status == 3 and "InvalidSignatureException): set the clock of this machine" in done.err


def test_logs_are_printed_without_waiting(server):
    server.log("algo-1", 61, "one", "three\n")
    server.log("algo-2", 61.5, "two\x1b[2J")
    done = smspec("logs", "nightly")
    assert (done.status, done.err) == (0, "")
    assert done.out == "algo-1 | one\nalgo-2 | two\\x1b[2J\nalgo-1 | three\n"
    assert smspec("logs", "nightly", "-v", "--host", "algo-2").out.startswith("2023-11-14T22:14:21Z  algo-2 | two")


def test_missing_log_is_reported(server):
    done = smspec("logs", "nightly")
    assert (done.status, done.out) == (0, "")
    assert done.err == "the job `nightly` has no log yet: it is Training\n"
    server.jobs["nightly"] = [FAILED]
    done = smspec("logs", "nightly", "--host", "algo-1")
    assert done.status == 1 and done.err.startswith("the job `nightly` has no log of host `algo-1`\nnightly: Failed")


@pytest.mark.parametrize(("end", "status"), [(COMPLETED, 0), (FAILED, 1), (look("Stopped", "MaxRuntimeExceeded"), 1)])
def test_followed_job_gives_its_status(server, end, status):
    server.jobs["nightly"] = [TRAINING, TRAINING, end]
    server.request["AlgorithmSpecification"] = {"MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]}
    server.log("algo-1", 61, "loss=0.5", "loss=0.25")
    done = smspec("logs", "nightly", "--follow")
    assert done.status == status, done.err
    assert done.out == "algo-1 | loss=0.5\nalgo-1 | loss=0.25\n"
    assert "2023-11-14T22:14:20Z  Training: Training in progress.\n" in done.err
    assert done.err.endswith("metrics: loss 0.25\n")
    assert ("exit status of the script: 3" in done.err) == (end is FAILED)
    assert ("the job reached `stopping.max_runtime`" in done.err) == (end["secondary"] == "MaxRuntimeExceeded")


def test_followed_job_shows_its_cost(server, tmp_path):
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.m5.large" = 0.115\n')
    server.jobs["nightly"] = [COMPLETED]
    assert (
        "Completed after 2 min 00 s, 2 min 00 s billed, $0.01 of at most $0.23" in smspec("logs", "nightly", "-f").err
    )


def test_expired_credentials_are_reported_once(server):
    server.jobs["nightly"] = [TRAINING, TRAINING, COMPLETED]
    server.log("algo-1", 61, "one")
    server.on_describe = lambda count: (
        count == 2 and server.faults.update(GetLogEvents=[(400, "ExpiredTokenException")] * 3)
    )
    done = smspec("logs", "nightly", "--follow")
    assert (done.status, done.out) == (0, "algo-1 | one\n")
    assert done.err.count("the job goes on, and smspec asks again") == 1
    assert "AWS answers again" in done.err


@pytest.mark.process
def test_ctrl_c_leaves_the_job_alone(server):
    server.log("algo-1", 61, "one")
    words = [sys.executable, "-m", "smspec", "logs", "nightly", "--follow"]
    process = subprocess.Popen(
        words, env=environment(**server.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "algo-1 | one\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.endswith("the job goes on in SageMaker; `smspec logs nightly --follow` shows it again\n")
    assert server.stopped == []


@pytest.fixture
def silence(server):
    """SageMaker answers twice, then no more: `on_describe` waits, until the test ends."""
    over = threading.Event()
    server.log("algo-1", 61, "one")
    server.on_describe = lambda count: count > 2 and over.wait(300)
    yield over
    over.set()


@pytest.mark.process
@pytest.mark.parametrize("ends", ["by-a-signal", "by-its-deadline"])
def test_server_that_falls_silent_is_shown(server, silence, ends):
    """A line in a log names the wait; Ctrl-C ends it at once, and its time limit lets smspec ask again."""
    words = [sys.executable, "-m", "smspec", "logs", "nightly", "--follow"]
    limit = "2" if ends == "by-its-deadline" else "250"
    env = environment(**server.environ, SMSPEC_HTTP_TIMEOUT=limit)
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "algo-1 | one\n"  # on a slow machine, an earlier call may be waited for
        assert any("waiting for AWS in us-west-2 about the job nightly" in line for line in process.stderr)
        if ends == "by-a-signal":
            process.send_signal(signal.SIGINT)
        else:
            assert any("no complete response within 2 s" in line for line in process.stderr)
            server.jobs["nightly"] = [COMPLETED]
            silence.set()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == ""
    if ends == "by-a-signal":
        assert process.returncode == 130 and "the job goes on in SageMaker" in err
    else:
        assert process.returncode == 0 and "AWS answers again" in err


@pytest.mark.process
def test_following_ends_with_its_reader(server):
    server.log("algo-1", 61, *(f"line {number}" for number in range(20)))
    server.on_describe = lambda count: server.log("algo-1", 100 + count, "more")
    words = f"{sys.executable} -m smspec logs nightly --follow | head -1"
    before = time.monotonic()
    done = subprocess.run(words, shell=True, env=environment(**server.environ), capture_output=True, timeout=60)
    assert done.stdout == b"algo-1 | line 0\n"
    assert time.monotonic() - before < 50


def test_job_is_stopped(server):
    done = smspec("stop", "nightly")
    assert (done.status, server.stopped) == (0, ["nightly"])
    assert done.err == "nightly: stopping; `smspec logs nightly --follow` shows its end\n"


@pytest.mark.parametrize("status", ["Completed", "Failed", "Stopped", "Stopping"])
def test_job_that_is_over_is_not_stopped(server, status):
    server.jobs["nightly"] = [look(status)]
    done = smspec("stop", "nightly")
    assert (done.status, server.stopped) == (0, [])
    assert done.err == f"nightly: {status} already\n"


def test_job_that_ends_while_it_is_stopped(server):
    """SageMaker refuses to stop a job that is over."""
    server.jobs["nightly"] = [TRAINING, COMPLETED]
    server.faults["StopTrainingJob"] = [(400, "ValidationException")]
    done = smspec("stop", "nightly")
    assert (done.status, done.err) == (0, "nightly: Completed already\n")


def test_times_of_since():
    assert milliseconds("30m", 10_000) == (10_000 - 1800) * 1000
    assert milliseconds("1970-01-01T01:00:00Z", 0) == milliseconds("1970-01-01T02:00:00+01:00", 0) == 3_600_000
    assert milliseconds("1970-01-02", 0) == 86_400_000
    for text in ("yesterday", "30", "m", "-3h", "9999999h", "2026-99-01", ""):
        with pytest.raises(UsageError, match="--since: expected"):
            milliseconds(text, 0)


def test_half_of_a_surrogate_pair_does_not_hide_the_log(server):
    server.log("algo-1", 61, "before", "a\ud800b", "\udc00", "😀 \\ud800", "after")
    done = smspec("logs", "nightly")
    assert (done.status, done.err) == (0, "")
    assert [line.partition(" | ")[2] for line in done.out.splitlines()] == [
        "before",
        "a\ufffdb",
        "\ufffd",
        "😀 \\ud800",
        "after",
    ]


def test_lines_are_shown_as_a_terminal_shows_them(server):
    lines = {
        "1\u202f234,5\xa0\u20ac": "1 234,5 \u20ac",
        " 10%|#\r 50%|##\r100%|###": "100%|###",
        "\x1b[31mred\x1b[0m\r": "red",
        "a\r\nb\rc": "a\\x0ac",
        "x\x1b[2Ay\u202ez\x1b]0;t\x07": "x\\x1b[2Ay\\u202ez\\x1b]0;t\\x07",
    }
    server.log("algo-1", 61, *lines)
    assert smspec("logs", "nightly").out == "".join(f"algo-1 | {shown}\n" for shown in lines.values())


def test_many_empty_pages_before_the_first_line(server, monkeypatch):
    server.log("algo-1", 61, "epoch 1")
    real, pages = server.events, iter(range(150))

    def events(request):
        number = next(pages, None)
        if number is None:
            return real({**request, "nextToken": "f/0"} if "x" in request["nextToken"] else request)
        return {"events": [], "nextForwardToken": f"x/{number}", "nextBackwardToken": "b"}

    monkeypatch.setattr(server, "events", events)
    assert smspec("logs", "nightly").out == "algo-1 | epoch 1\n"


def test_log_with_full_pages_is_read(server):
    """CloudWatch Logs sends up to 10,000 events, and 1 MB of text, in a page."""
    server.page = 10_000
    server.log("algo-1", 61, *(f"step {number}" for number in range(11_000)), *["é\n" * 200_000] * 2)
    done = smspec("logs", "nightly")
    assert (done.status, done.err) == (0, "")
    assert len(done.out.splitlines()) == 11_002 and "step 10999" in done.out


@pytest.mark.parametrize(
    ("broken", "variable", "status", "why"),
    [
        ("job_name: own\n", "us-west-2", 1, "is one name for all regions"),
        ("", "", 3, "no AWS region"),
    ],
    ids=["a name for all regions", "no region"],
)
def test_spec_without_an_answer_does_not_hide_the_others(server, tmp_path, monkeypatch, broken, variable, status, why):
    """The specs whose jobs are unknown are the first and the last."""
    monkeypatch.setenv("AWS_REGION", variable)
    write_job(tmp_path / "b")
    request = json.loads(smspec("render", "b/job.yaml", "--api-json").out)
    server.put(request, TRAINING)
    for place in ("a", "c"):
        write_job(tmp_path / place, OPEN + broken)
    done = smspec("status", ".")
    assert done.status == status, done.err
    assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [
        ["a/job.yaml", "unknown"],
        ["b/job.yaml", request["TrainingJobName"]],
        ["c/job.yaml", "unknown"],
    ]
    assert done.err.count(why) == 2 and done.err.startswith("a/job.yaml: ")
    records = json.loads(smspec("status", ".", "--format", "json").out)
    assert [why in (each["note"] or "") for each in records] == [True, False, True]
    alone = smspec("status", "a/")
    assert (alone.status, alone.out) == (status, "") and why in alone.err


def test_regions_out_of_reach_are_asked_twice(server, tmp_path):
    for number in range(9):
        write_job(tmp_path / f"j{number}", f"{BUILT}overlays: {{dev: {{retries: 2}}}}\n")
    server.faults["ListTrainingJobs"] = [(400, "AccessDeniedException")] * 99
    done = smspec("status", ".")
    assert (done.status, done.out) == (3, "") and "sagemaker:ListTrainingJobs" in done.err
    assert server.asked["ListTrainingJobs"] <= 2
