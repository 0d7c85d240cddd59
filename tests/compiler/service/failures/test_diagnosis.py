"""Which line shows why a job failed, and what its status, its history, and its request add."""

import json
import re

import pytest

from smspec.service.failures import CAUSES, MOST_LINES, JobFailure, LogTails, diagnose, failure_in, failure_of, words_of
from smspec.service.failures.job_causes import MAX_RUNTIME, MAX_WAIT, PENDING, SPOT_WITHOUT_CHECKPOINTS, STOPPED
from smspec.spec.schema.reference import keys

ALL = (*CAUSES, MAX_RUNTIME, MAX_WAIT, PENDING, SPOT_WITHOUT_CHECKPOINTS, STOPPED)
FULL_GPU = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
NCCL = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:784, unhandled system error, NCCL version 2.7.8"
UNKNOWN = "ValueError: 137 rows"
RETRYING = "WARNING: Retrying (Retry(total=4)) after connection broken by 'ConnectTimeoutError(pypi.org)': /simple/a/"


def name(**known):
    cause = diagnose(JobFailure(**known)).cause
    return cause and cause.name


def test_causes_have_sources_and_change_keys_that_exist():
    for cause in ALL:
        assert cause.source.startswith("https://"), cause.name
        for key in cause.keys:
            assert key in set(keys()), (cause.name, key)
    assert len({cause.name for cause in ALL}) >= 60


def test_fixes_name_keys_of_their_cause_only():
    known = set(keys())
    for cause in ALL:
        named = {word for word in re.findall(r"`([^`]+)`", cause.fix) if word in known}
        assert named <= {*cause.keys, "network.isolation"}, cause.name


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("CapacityError: Unable to provision requested ML compute capacity. Please retry", "capacity"),
        (
            'AlgorithmError: CannotStartContainerError. exec: "train": executable file not found in $PATH',
            "program-not-found",
        ),
        ("ClientError: Data download failed:Unable to download s3://b/k (AccessDenied: Access Denied)", "data-denied"),
        ("ClientError: Artifact upload failed:Unable to upload (BucketRegionError: bucket must be in", "wrong-region"),
        ("ClientError: Artifact upload failed:Unable to upload (AccessDenied: Access Denied)", "output-denied"),
        ("ClientError: Artifact upload failed:what", "upload-failed"),
        ("AlgorithmError: ExecuteUserScriptError: x\nExitCode 137\n, exit code: 137", "host-memory"),
        ("AlgorithmError: ExecuteUserScriptError: x, exit code: -9", "host-memory"),
        ("AlgorithmError: SIGSEGV: segmentation fault, exit code: 139", "crash"),
        ("ClientError: Could not assume role arn:aws:iam::111122223333:role/X", "role"),
        ("An error occurred (ExpiredToken) when calling the GetObject operation: expired", "expired-credentials"),
        ("ClientError: Data download failed:what", "download-failed"),
        ("AlgorithmError: ExecuteUserScriptError: ValueError: 137 rows, exit code: 1", None),
        ("", None),
    ],
)
def test_reasons_have_their_causes(reason, expected):
    assert name(reason=reason) == expected


def test_log_shows_what_the_reason_only_ends_with():
    reason = "AlgorithmError: ExecuteUserScriptError: exit code: -9"
    found = diagnose(JobFailure(reason=reason, log=[("algo-1", FULL_GPU), ("algo-1", UNKNOWN)]))
    assert (found.cause.name, found.evidence, found.place) == ("cuda-memory", FULL_GPU, "algo-1")
    assert (
        name(reason=f"AlgorithmError: {FULL_GPU}", log=[("algo-1", "OSError: No space left on device")])
        == "cuda-memory"
    )


def test_effect_on_other_hosts_does_not_hide_the_cause():
    assert diagnose(JobFailure(log=[("algo-2", NCCL), ("algo-1", FULL_GPU), ("algo-2", NCCL)])).place == "algo-1"


def test_host_that_failed_first_counts():
    full = "OSError: [Errno 28] No space left on device"
    assert diagnose(JobFailure(log=[("algo-2", full), ("algo-1", FULL_GPU)])).place == "algo-2"


def test_last_line_of_a_host_counts():
    assert name(log=[("algo-1", "ModuleNotFoundError: No module named 'apex'"), ("algo-1", FULL_GPU)]) == "cuda-memory"


def test_warning_before_an_unknown_exception_is_ignored():
    assert name(log=[("algo-1", RETRYING)]) == "no-internet"
    assert name(log=[("algo-1", RETRYING), ("algo-1", UNKNOWN)]) is None
    assert name(log=[("algo-1", RETRYING), ("algo-1", f"{UNKNOWN.partition(':')[0]}Warning: x")]) == "no-internet"


def test_unknown_failure_shows_its_last_error():
    found = diagnose(JobFailure(reason="AlgorithmError: x", log=[("algo-1", UNKNOWN), ("algo-1", "Traceback follows")]))
    assert (found.cause, found.evidence, found.place) == (None, UNKNOWN, "algo-1")
    assert list(found.lines()) == ["likely cause: unknown to smspec", f"last error: {UNKNOWN} (algo-1)"]


def test_limits_are_found_by_the_secondary_status():
    answer = {"SecondaryStatus": "MaxRuntimeExceeded", "StoppingCondition": {"MaxRuntimeInSeconds": 3600}}
    found = diagnose(failure_of(answer))
    assert found.cause is MAX_RUNTIME and found.now == (("stopping.max_runtime", "3600s"),)
    assert name(secondary="MaxWaitTimeExceeded") == "max-wait"
    assert name(secondary="Stopped") == "stopped"


def test_interruptions_without_checkpoints_are_a_cause():
    answer = {
        "SecondaryStatus": "MaxWaitTimeExceeded",
        "EnableManagedSpotTraining": True,
        "SecondaryStatusTransitions": [{"Status": "Interrupted", "StatusMessage": "x"}] * 2,
    }
    found = diagnose(failure_of(answer))
    assert found.cause is SPOT_WITHOUT_CHECKPOINTS and "interrupted 2 times" in found.evidence
    assert diagnose(failure_of({**answer, "CheckpointConfig": {"S3Uri": "s3://b/c/"}})).cause is MAX_WAIT


@pytest.mark.parametrize("status", ["InProgress", "Stopping", "Completed"])
def test_job_that_did_not_fail_has_no_cause(status):
    answer = {
        "TrainingJobName": "a",
        "TrainingJobStatus": status,
        "EnableManagedSpotTraining": True,
        "SecondaryStatusTransitions": [{"Status": "Interrupted", "StatusMessage": "insufficient capacity"}],
    }
    found = diagnose(failure_in(json.dumps(answer)))
    assert list(found.lines()) == [f"likely cause: none, the job is {status}"]
    assert (found.record()["cause"], found.record()["unknown"]) == (None, f"none, the job is {status}")


def test_stopped_job_was_not_ended_by_an_interruption():
    answer = {
        "TrainingJobStatus": "Stopped",
        "SecondaryStatus": "Stopped",
        "EnableManagedSpotTraining": True,
        "SecondaryStatusTransitions": [{"Status": "Interrupted", "StatusMessage": "x"}],
    }
    assert diagnose(failure_of(answer)).cause is STOPPED


def test_limit_of_the_wait_may_have_stopped_a_job_without_hosts():
    answer = {"SecondaryStatus": "Stopped", "StoppingCondition": {"MaxPendingTimeInSeconds": 7200}}
    found = diagnose(failure_of(answer))
    assert (found.cause.name, found.now) == ("max-pending", (("stopping.max_pending", "7200s"),))
    assert diagnose(failure_of({**answer, "TrainingStartTime": 1})).cause is STOPPED


def test_history_shows_what_nothing_else_does():
    message = "Insufficient capacity error from EC2 while launching instances, retrying!"
    answer = {
        "SecondaryStatus": "Failed",
        "SecondaryStatusTransitions": [{"Status": "Starting", "StatusMessage": message}],
    }
    found = diagnose(failure_of(answer))
    assert (found.cause.name, found.evidence, found.cause.retry) == ("capacity", message, "later")


def test_values_of_the_request_are_shown():
    answer = {"FailureReason": "ClientError: Data download failed:Insufficient disk space"}
    found = diagnose(failure_of({**answer, "ResourceConfig": {"VolumeSizeInGB": 30}}))
    assert "now: `hosts.volume` is 30GB" in list(found.lines())


@pytest.mark.parametrize(
    "text",
    [
        FULL_GPU,
        f"2024-01-31T08:00:00Z  algo-1 | {FULL_GPU}",
        f"abc-algo-1-xwmby_1  | {FULL_GPU}\nabc-algo-1-xwmby_1 exited with code 1",
        f"\x1b[34m{FULL_GPU}\x1b[0m",
        f"{FULL_GPU}#015",
        json.dumps({"events": [{"timestamp": 1, "message": f"{FULL_GPU}\n"}], "nextForwardToken": "f/1"}),
        json.dumps(
            {"TrainingJobName": "a", "TrainingJobStatus": "Failed", "FailureReason": f"AlgorithmError: {FULL_GPU}"}
        ),
        f'Failed. Reason: AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "{FULL_GPU}"',
    ],
)
def test_pasted_texts_are_read_in_their_forms(text):
    assert diagnose(failure_in(text)).cause.name == "cuda-memory"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"a": 1}', "{" * 100_000, '{"events": {}}', '{"FailureReason": 3}', "\0\ufffd"]
)
def test_texts_of_other_forms_have_no_cause(text):
    assert diagnose(failure_in(text)).cause is None


def test_last_lines_of_a_log_are_searched():
    assert diagnose(failure_in("\n".join([FULL_GPU, *["step"] * MOST_LINES]))).cause is None
    assert diagnose(failure_in("\n".join(["step"] * 100_000 + [FULL_GPU]))).cause is not None


def test_last_lines_of_many_hosts_are_searched():
    tails = LogTails()
    tails.take("first", FULL_GPU)
    for number in range(300):
        tails.take(f"algo-{number}", "step")
        tails.take("algo-0", "step")
    hosts = {host for host, _ in tails.lines}
    assert "first" not in hosts and {"algo-0", "algo-299"} <= hosts
    assert len(tails.lines) < 300 + MOST_LINES


def test_secrets_in_the_evidence_are_masked():
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    assert key not in diagnose(failure_in(f"{FULL_GPU} {key}")).evidence


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Bus error|a\.b \(c\)", {"bus error", "a.b (c)"}),
        (r"exit (code|status) 7", {"exit "}),
        (r"\bSIG[A-Z]+ ended\b.{0,40}x", {" ended"}),
        (r"colou?r of", {"colo"}),
        (r"long word|(short|or) a", set()),
        (r"ab", set()),
    ],
)
def test_words_of_a_pattern_are_in_each_line_that_matches(pattern, words):
    assert words_of(pattern) == words


@pytest.mark.parametrize(
    "line",
    [
        "W0126 01:18:04 torch/distributed/elastic/api.py:897] Sending process 13403 closing signal SIGTERM",
        "[2023-06-07 10:11:12,345] [INFO] [launch.py:428:sigkill_handler] Killing subprocess 4242",
    ],
)
def test_launcher_that_ends_other_processes_shows_no_cause(line):
    assert name(log=(("algo-1", line),)) is None
    assert name(log=(("algo-1", line), ("algo-1", "failed (exitcode: -9) local_rank: 4"))) == "host-memory"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exits with return code = -9", "host-memory"),
        ("failed (exitcode: -9) local_rank: 3", "host-memory"),
        ("subprocess returned non-zero exit status -9.", "host-memory"),
        ("container exited with 137", "host-memory"),
        ("AlgorithmError: , exit code: 139", "crash"),
        ("returncode=-6", "crash"),
        ("died with <Signals.SIGTERM: 15>.", "terminated"),
        ("step 137, exit loss 0.137", None),
        ("episode return -9.0, mean return -11", None),
        ("exit code: 1", None),
        ("exit code: 1373", None),
    ],
)
def test_exit_status_of_a_signal_is_found_in_each_form(line, expected):
    assert name(log=(("algo-1", line),)) == expected
