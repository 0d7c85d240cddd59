"""Every command that opens the network says what it waits for while a server accepts connections and never answers."""

import re
import socket

import pytest

from support.servers.job_server import COMPLETED, look
from support.servers.posing_aws import HANG
from support.small_job import BUILT, write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

NAME = "small-0123456789"
COMMANDS = {
    **{
        f"{command} {what}": ([command, what], "SageMaker in us-west-2")
        for command in ("stop", "logs", "collect", "status")
        for what in ("job.yaml", NAME)
    },
    "status of a directory": (["status", "."], "SageMaker in us-west-2 about "),
    "logs that follow": (["logs", NAME, "-f"], "SageMaker in us-west-2"),
    "import": (["import", NAME], "SageMaker in us-west-2"),
    "import into a directory": (["import", NAME, "-o", "new"], "SageMaker in us-west-2"),
    "prices": (["prices", "--update"], "the AWS Price List API about us-west-2"),
    "quotas": (["quotas", "--update"], "Service Quotas in us-west-2"),
    "submit": (["submit", "--detach"], "SageMaker in us-west-2"),
    "submit as a dry run": (["submit", "--dry-run"], "SageMaker in us-west-2"),
    "submit of an alternative": (["submit", "any.yaml"], "SageMaker in us-west-2"),
    "lock": (["lock", "built.yaml"], "the registry of `127.0.0.1:"),
    "build of an image": (["build", "built.yaml", "--push"], "the registry of `111122223333.dkr.ecr."),
    "run": (["run", "--data", "train=s3://bucket/data/"], "S3 about"),
}


@pytest.fixture(autouse=True)
def soon():
    """Waits are shown here."""


@pytest.fixture
def silent(monkeypatch, tmp_path):
    """An endpoint that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{place}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_REGION", "us-west-2")
        monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "2")
        monkeypatch.chdir(tmp_path)
        write_job(tmp_path, SPEC)
        either = ", ".join(
            f"{{instance_type: {kind}, count: 1, volume: 9}}" for kind in ("ml.m5.large", "ml.m5.xlarge")
        )
        (tmp_path / "any.yaml").write_text(re.sub("(?m)^hosts: .*$", f"hosts: {{any_of: [{either}]}}", SPEC))
        (tmp_path / "built.yaml").write_text(BUILT.replace("python:3.12-slim-bookworm", f"{place}/base:1"))
        yield


def waits(output):
    """Return the lines about what a command waits for; on a loaded machine one has several services."""
    return "\n".join(re.findall("^waiting for .*", output, re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS)
def test_wait_is_shown_and_ends(silent, command):
    words, what = COMMANDS[command]
    done = smspec(*words)
    assert done.status == (0 if "--dry-run" in words else 3), done.err
    assert what in waits(done.err), done.err


LATER = {
    "tags of status": ("sagemaker ListTags", ["status", "{name}"], "SageMaker in us-west-2"),
    "list of status": ("sagemaker ListTrainingJobs", ["status", "."], "SageMaker in us-west-2 about "),
    "stop": ("sagemaker StopTrainingJob", ["stop", "{name}"], "SageMaker in us-west-2"),
    "streams of logs": ("logs DescribeLogStreams", ["logs", "{name}"], "CloudWatch Logs in us-west-2"),
    "events of logs": ("logs GetLogEvents", ["logs", "{name}"], "CloudWatch Logs in us-west-2"),
    "objects of collect": ("s3 GET", ["collect", "job.yaml"], "S3 about the result of `small-"),
    "creation of submit": (
        "sagemaker CreateTrainingJob",
        ["submit", "--run-id", "a"],
        "SageMaker in us-west-2 to create",
    ),
}


@pytest.mark.parametrize("case", LATER)
def test_later_wait_is_shown_too(account, monkeypatch, case):
    """The server has answered before: only one call hangs."""
    operation, words, what = LATER[case]
    assert smspec("submit", "--detach").status == 0
    (name,) = account.jobs.jobs
    account.jobs.jobs[name] = [COMPLETED if "collect" in words else look("InProgress", "Training")]
    account.jobs.log("algo-1", 1, "a line", job=name)
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "3")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setattr("smspec.submission.job_creation.PATIENCE_SECONDS", 0)
    account.aws.faults[operation] = HANG
    done = smspec(*(word.format(name=name) for word in words))
    assert done.status == 3 and what in waits(done.err), done.err


def test_caller_is_asked_for_once(account):
    assert smspec("submit", "--detach").status == 0
    assert account.aws.asked.count("sts GetCallerIdentity") == 1
