"""The table of `smspec submit` on a terminal, while it waits, and with an emulator."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

import pytest

from support.aws_account import (
    ACCOUNT,
    BUILT_HERE,
    REPOSITORY,
    SPEC,
    dry,
    of_kind,
    row,
)
from support.servers.ecr_server import docker_image
from support.servers.posing_aws import HANG
from support.servers.registry_server import digest_of, registry
from support.small_job import write_job
from support.smspec_command import environment, smspec


def started(*words, **options):
    """Start the command as a process of its own, with its standard error as a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(SMSPEC_HTTP_TIMEOUT="120"),
        text=True,
        **options,
    )


@pytest.mark.parametrize(
    "operation", ["sagemaker DescribeTrainingJob", "sts GetCallerIdentity", "iam GetRole", "s3 HEAD"]
)
def test_wait_is_shown_and_can_be_interrupted(account, operation):
    """The plan is there before the first answer, and Ctrl-C leaves nothing."""
    account.aws.faults[operation] = HANG
    process = started()
    plan = process.stderr.readline()
    assert plan.startswith("job small-"), plan
    waits = (line for line in process.stderr if line.startswith("waiting for ") and "credentials" not in line)
    assert next(waits, None), "nothing says what the command waits for"
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)  # no thread keeps the process
    assert process.returncode == 130 and "Traceback" not in rest, rest
    assert account.jobs.created == [] and not [each for each in account.aws.asked if each.startswith("s3 PUT")]


def test_table_fits_a_terminal(account, tmp_path):
    """With colours there, and with neither colours nor breaks elsewhere."""
    write_job(tmp_path, SPEC.replace("small:1", "small:" + "a-long-tag-" * 8))
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", "--dry-run"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment(TERM="xterm"),
    )
    os.close(terminal)
    text = ""
    with contextlib.suppress(OSError):  # the terminal is closed at the end
        while chunk := os.read(controller, 65536):
            text += chunk.decode()
    os.close(controller)
    assert process.wait(timeout=60) == 1
    assert "\x1b[32mok" in text and "\x1b[1;31mwrong" in text
    lines = [re.sub(r"\x1b\[[0-9;]*[mK]", "", line).rpartition("\r")[2] for line in text.split("\r\n")]
    table = lines[next(index for index, line in enumerate(lines) if line.startswith("ok")) :]
    table = table[: next(index for index, line in enumerate(table) if line.startswith("smspec: "))]
    assert table and max(map(len, table)) <= 80, table
    plain = smspec("submit", "--dry-run").err
    assert "\x1b" not in plain
    assert re.search(rf"^wrong +image +{REPOSITORY}:\S+: does not exist in its repository$", plain, re.MULTILINE)


def test_name_of_ecr_that_does_not_resolve(account, tmp_path, monkeypatch):
    write_job(tmp_path, BUILT_HERE)
    monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", "http://ecr.invalid")
    monkeypatch.setenv("no_proxy", "127.0.0.1,ecr.invalid")
    state, text = row("image")
    assert state == "not checked" and "cannot resolve `ecr.invalid`" in text
    done = smspec("submit", "--detach")
    assert (done.status, account.jobs.created) == (3, []) and "cannot resolve `ecr.invalid`" in done.err


def test_registry_of_an_emulator_has_the_image(account, tmp_path, monkeypatch):
    """The address of the registry is in an overlay, so it is part of what is checked."""
    kind, manifest, content = docker_image()
    with registry() as images:
        ignored = "{ignore: [{rule: SM437, because: the emulator has its own registry}]}"
        overlay = f"{{image: {{repository: {images.host}/small}}, checks: {ignored}}}"
        write_job(tmp_path, f"{BUILT_HERE}overlays: {{local: {overlay}}}\n")
        monkeypatch.setenv("AWS_ENDPOINT_URL", account.aws.moto)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", account.jobs.environ["AWS_ENDPOINT_URL"])
        image = json.loads(smspec("render", "--api-json", "-O", "local").out)["AlgorithmSpecification"]["TrainingImage"]
        images.contents["small", image.rpartition(":")[2]] = kind, manifest
        images.contents["small", digest_of(content)] = "application/octet-stream", content
        done = smspec("submit", "-O", "local", "--detach")
        assert done.status == 0, done.err
        assert re.search(r"^ok +image +is in its registry$", done.err, re.MULTILINE)
    assert account.jobs.created[0]["AlgorithmSpecification"]["TrainingImage"] == image
    assert image.startswith(f"{images.host}/small:")


def test_endpoint_of_the_user_decides_nothing_about_an_account(account, tmp_path, monkeypatch):
    """An emulator lacks roles, keys, and networks of AWS, and accepts jobs that use them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", account.aws.moto)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", account.jobs.environ["AWS_ENDPOINT_URL"])
    monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", account.aws.moto + "/")
    for kind in ("KMS key", "network", "secret", "file system"):
        write_job(tmp_path, of_kind(kind).replace(ACCOUNT, "210987654321"))
        found = dry()
        assert {state for state, _ in found.values()} <= {"ok", "not checked"}, found
        assert "`127.0.0.1`" in next(text for (each, _), (_, text) in found.items() if each == kind)
