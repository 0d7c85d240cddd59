"""The table of `smspec submit` without permissions, answers, or credentials: what is not checked, and what ends it."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from support.aws_account import (
    ACCOUNT,
    DENIALS,
    DENIED,
    ROLE,
    SPEC,
    TRUST,
    of_kind,
    row,
    rows,
)
from support.forked_command import start_command
from support.sampled_cases import left_out
from support.servers.aws_server import REGION
from support.servers.posing_aws import DRIP, DROP, HANG, Refusal
from support.small_job import write_job
from support.smspec_command import environment, smspec, smspec_process


@pytest.mark.parametrize("kind", DENIALS)
def test_denied_call_is_not_checked(account, tmp_path, kind):
    operation, action = DENIALS[kind]
    write_job(tmp_path, of_kind(kind))
    account.aws.faults[operation] = DENIED
    state, text = row(kind)
    assert state == "not checked" and f"AWS denies `{action}`" in text, text
    # Every caller may ask STS who it is (IAM user guide).
    assert kind == "caller" or action in smspec("render", "--iam-policy=submitter").out


FAULTS = (DROP, HANG, DRIP, "html", "json", "throttled")


# One client makes all calls: in the sample each call meets two faults, and each fault at least three calls.
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (kind, fault) if (row + column) % 3 == 0 else left_out(kind, fault)
        for row, kind in enumerate(DENIALS)
        for column, fault in enumerate(FAULTS)
    ],
)
def test_call_without_a_usable_answer_is_not_checked_in_time(account, tmp_path, monkeypatch, kind, fault):
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "1" if fault in (HANG, DRIP) else "4")  # the former are waited out
    faults = {
        "html": b"<html><body>Log in</body></html>",
        "json": b'{"a": [1, {"b": ',
        "throttled": Refusal(400, "ThrottlingException"),
    }
    write_job(tmp_path, of_kind(kind))
    account.aws.faults[DENIALS[kind][0]] = faults.get(fault, fault)
    started = time.monotonic()
    state, text = row(kind)
    assert state == "not checked" and text, text
    assert time.monotonic() - started < 300  # not for ever; how long a loaded machine takes is its own affair


def test_caller_who_may_list_prefixes_only_sees_the_bucket(account):
    """The policy that `render --iam-policy=submitter` prints denies HeadBucket."""
    account.aws.faults["s3 HEAD"] = DENIED
    assert row("bucket") == ("ok", f"in {REGION}; train, output")
    account.aws.faults["s3 GET location"] = DENIED
    assert row("bucket") == ("not checked", "AWS denies `s3:GetBucketLocation`")


def test_data_whose_reader_pays_are_not_checked(account):
    """S3 denies the list of such a bucket to a request that does not accept the costs."""
    account.aws.faults["s3 GET"] = DENIED
    state, text = row("channel")
    assert state == "not checked" and "AWS denies `s3:ListBucket`" in text


PROFILES = {
    "sso": """\
[profile a]
sso_session = s
sso_account_id = 123456789012
sso_role_name = r
[sso-session s]
sso_region = us-west-2
sso_start_url = https://example.awsapps.com/start
""",
    "a device": """\
[profile a]
role_arn = arn:aws:iam::123456789012:role/ci
mfa_serial = arn:aws:iam::123456789012:mfa/me
source_profile = b
[profile b]
aws_access_key_id = testing
aws_secret_access_key = testing
""",
    "a process that fails": "[profile a]\ncredential_process = false\n",
    "a process that prints no keys": "[profile a]\ncredential_process = echo {}\n",
    "a process that prints no JSON": "[profile a]\ncredential_process = echo hello\n",
    "a process that prints a list": "[profile a]\ncredential_process = echo []\n",
    "a version that is a key": '[profile a]\ncredential_process = echo \'{"Version": "SECRETSECRETSECRET"}\'\n',
    "a time that is a key": (
        "[profile a]\ncredential_process = echo '"
        '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c",'
        ' "Expiration": "SECRETSECRETSECRET"}'
        "'\n"
    ),
    "a process that does not exist": "[profile a]\ncredential_process = no-such-program --json\n",
    "a process with expired keys": (
        "[profile a]\ncredential_process = echo '"
        '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c",'
        ' "Expiration": "2020-01-01T00:00:00Z"}'
        "'\n"
    ),
    "keys that are not strings": (
        '[profile a]\ncredential_process = echo \'{"Version": 1, "AccessKeyId": 1, "SecretAccessKey": [2]}\'\n'
    ),
    "half of a key pair": "[profile a]\naws_access_key_id = testing\n",
    "a token in a file that does not exist": (
        "[profile a]\nrole_arn = arn:aws:iam::123456789012:role/ci\nweb_identity_token_file = /nowhere/token\n"
    ),
    "a profile that does not exist": "",
}


@pytest.mark.parametrize("case", PROFILES)
def test_credentials_that_cannot_be_had(account, tmp_path, case):
    """The plan is printed, then one sentence, which is about the credentials; standard input is empty."""
    (tmp_path / "config").write_text(PROFILES[case])
    unset = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")
    process = smspec_process(
        *("submit", "--profile", "a"),
        env=environment(AWS_CONFIG_FILE=str(tmp_path / "config"), HOME=str(tmp_path), **unset),
    )
    assert process.status == 3, process.err
    assert process.err.startswith("job small-") and "Traceback" not in process.err
    assert "SECRET" not in process.err and "request for :" not in process.err
    assert "Warning" not in process.err
    # The question for a code ends without a line break.
    assert re.search(r"smspec: cannot get AWS credentials to .*\n\Z", process.err), process.err


@pytest.mark.parametrize("url", ["{moto}/a/path", "http://[::1]:9", "http://127.0.0.1:9", "http://nowhere.invalid"])
def test_endpoint_that_leads_nowhere_is_not_checked(account, monkeypatch, url):
    for service in ("STS", "IAM", "KMS", "ECR", "SERVICE_QUOTAS"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", url.format(moto=account.aws.moto))
    monkeypatch.setenv("no_proxy", "127.0.0.1,nowhere.invalid,[::1]")
    done = smspec("submit", "--dry-run", "--format", "json")
    assert done.status in (0, 1), done.err
    assert "Traceback" not in done.err and "internal error" not in done.err
    states = {kind: state for (kind, _), (state, _) in rows(done).items()}
    assert {states[kind] for kind in ("caller", "role", "image", "quota")} == {"not checked"}, done.err


@pytest.mark.parametrize("name", ["metadata_service_timeout", "metadata_service_num_attempts"])
def test_setting_that_is_not_a_number_is_named(account, tmp_path, monkeypatch, name):
    (tmp_path / "config").write_text(f"[default]\n{name} = few\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    done = smspec("submit", "--dry-run")
    assert (done.status, f": `{name}` of the profile is not an integer\n" in done.err) == (3, True), done.err
    monkeypatch.setenv(f"AWS_{name.upper()}", "many")
    assert f": `AWS_{name.upper()}` is not an integer\n" in smspec("submit", "--dry-run").err


KEYS = '{"Version": 1, "AccessKeyId": "testing-0123456789", "SecretAccessKey": "testing-0123456789"}'
CHAIN = "[profile a]\nrole_arn = arn:aws:iam::123456789012:role/two\nsource_profile = m\n"
QUESTIONS = {
    "a device": (PROFILES["a device"], "mfa/me: ", 0),
    "the device of a source": (CHAIN + PROFILES["a device"].replace("profile a", "profile m"), "mfa/me: ", 0),
    "a program": ("[profile a]\ncredential_process = sh {}/program\n", "PIN: ", 1),
    "a program of a source": (f"{CHAIN}[profile m]\ncredential_process = sh {{}}/program\n", "PIN: ", 1),
}


@pytest.mark.parametrize("case", QUESTIONS)
def test_question_is_not_drawn_over(account, tmp_path, case):
    """All sessions of the command share the role's credentials, and a question stays while a person thinks."""
    config, question, shown = QUESTIONS[case]
    (tmp_path / "config").write_text(config.format(tmp_path))
    asking = (
        f"cd '{tmp_path}'; [ -e asked ] || {{ printf '{question}' > /dev/tty; read code < /dev/tty; touch asked; }}"
    )
    (tmp_path / "program").write_text(f"{asking}; echo '{KEYS}'")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", "--detach", "--profile", "a"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        env=environment(
            AWS_CONFIG_FILE=str(tmp_path / "config"), AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="", TERM="xterm"
        ),
    )
    os.close(terminal)
    text, meanwhile = "", ""
    with contextlib.suppress(OSError):
        while chunk := os.read(controller, 65536):
            text += chunk.decode()
            if text.endswith(question):
                while select.select([controller], [], [], 1.2)[0]:  # a line is drawn ten times a second
                    meanwhile += os.read(controller, 65536).decode()
                    assert len(meanwhile) < 1000, meanwhile
                os.write(controller, b"123456\n")
    os.close(controller)
    assert process.wait(timeout=60) == 0, text
    assert text.count(question) == 1 and "\x1b" not in meanwhile
    assert meanwhile.count("waiting for AWS credentials") == shown and bool(meanwhile) == bool(shown)
    assert len(account.jobs.created) == 1


@pytest.mark.skipif(
    not os.path.exists(f"/proc/self/task/{os.getpid()}/children"), reason="the kernel lists no children"
)
def test_program_that_takes_too_long_leaves_no_process(account, tmp_path):
    (tmp_path / "config").write_text(f"[profile a]\ncredential_process = sh {tmp_path}/program\n")
    (tmp_path / "program").write_text(f"cd '{tmp_path}'; sleep 777 & echo $! > child\nwait")
    unset = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")
    settings = {"AWS_CONFIG_FILE": str(tmp_path / "config"), "SMSPEC_HTTP_TIMEOUT": "3", "AWS_REGION": REGION}
    done = smspec_process("status", "nightly", "--profile", "a", env=environment(**settings, **unset))
    assert done.status == 3 and "`credential_process` does not end within 3 s" in done.err, done.err
    child, end = int((tmp_path / "child").read_text()), time.monotonic() + 30
    with pytest.raises((ProcessLookupError, FileNotFoundError)):
        while time.monotonic() < end:
            os.kill(child, 0)
            if b") Z " in Path(f"/proc/{child}/stat").read_bytes():  # its new parent does not reap it
                raise ProcessLookupError
            time.sleep(0.01)


@pytest.mark.parametrize(
    "body", [b"", b"<", b"<LocationConstraint", b"<Foo/>", b"text"], ids=["empty", "open", "cut", "other", "text"]
)
def test_location_that_is_none_is_not_checked(account, body):
    account.aws.faults.update({"s3 HEAD": DENIED, "s3 GET location": body})
    assert row("bucket")[0] == "not checked"


def test_missing_list_of_objects_is_reported(account):
    account.aws.faults["s3 GET"] = Refusal(404, "NotFound")
    state, text = row("channel", 1)
    assert state == "wrong" and "does not find the bucket" in text


def test_role_is_not_missing_while_the_caller_is_unknown(account, tmp_path):
    write_job(tmp_path, SPEC.replace(ROLE, ROLE.replace(ACCOUNT, "210987654321").replace("/Training", "/Other")))
    account.aws.faults["sts GetCallerIdentity"] = Refusal(500, "InternalFailure")
    state, text = row("role")
    assert state == "not checked" and "account of the caller" in text


@pytest.mark.parametrize(
    ("statements", "state"),
    [
        pytest.param([{"Effect": "Deny", "Action": "sts:AssumeRole"}], "wrong", id="denied"),
        pytest.param(
            [{"Effect": "Deny", "Action": "sts:AssumeRole", "Condition": {"Bool": {"a": "b"}}}], "ok", id="perhaps"
        ),
        pytest.param([{"Effect": "Deny", "Action": "sts:AssumeRoleWithSAML"}], "ok", id="other-action"),
    ],
)
def test_denied_trust_is_wrong(account, statements, state):
    of = [{**each, "Principal": {"Service": "sagemaker.amazonaws.com"}} for each in statements]
    policy = {**TRUST, "Statement": [*TRUST["Statement"], *of]}
    account.client("iam").update_assume_role_policy(RoleName="Training", PolicyDocument=json.dumps(policy))
    assert row("role", 3 if state == "wrong" else 0)[0] == state


def test_service_that_is_named_alike_is_not_trusted(account):
    account.trust("sagemaker.amazonaws.community")
    assert row("role", 3)[0] == "wrong"


COMMANDS = {
    "submit": ("submit",),
    "status": ("status", "nightly"),
    "logs": ("logs", "nightly"),
    "stop": ("stop", "nightly"),
    "collect": ("collect", "nightly"),
    "import": ("import", "nightly"),
    "status-of-a-spec": ("status", "job.yaml"),
}
ENDLESS = {
    "AWS_CA_BUNDLE": None,
    "AWS_CONFIG_FILE": None,
    "AWS_SHARED_CREDENTIALS_FILE": None,
    "AWS_WEB_IDENTITY_TOKEN_FILE": None,
    "AWS_CREDENTIAL_FILE": None,
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": None,
    "BOTO_CONFIG": None,
    "SSL_CERT_FILE": None,
    "web_identity_token_file": "role_arn = arn:aws:iam::123456789012:role/ci\nweb_identity_token_file = {}\n",
    "ca_bundle": "aws_access_key_id = testing\naws_secret_access_key = testing\nca_bundle = {}\n",
    "credential_process": "credential_process = cat {}\n",
    "source_profile": "role_arn = arn:aws:iam::123456789012:role/ci\nsource_profile = b\n[profile b]\n"
    "credential_process = cat {}\n",
}


OF_ALL = ("AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "credential_process")
"""One reader of credentials serves all commands: the other sources are tested with one of them."""


@pytest.mark.parametrize("kind", ["fifo", "zero"])
@pytest.mark.parametrize(
    ("command", "name"),
    [("stop", name) for name in ENDLESS] + [(each, name) for each in COMMANDS if each != "stop" for name in OF_ALL],
)
def test_file_without_an_end_is_not_read(account, tmp_path, command, name, kind):
    """A FIFO without a writer, or a device: botocore and OpenSSL would read them for ever."""
    path = tmp_path / "fifo" if kind == "fifo" else "/dev/zero"
    if kind == "fifo":
        os.mkfifo(path)
    text = ENDLESS[name]
    (tmp_path / "config").write_text(f"[profile a]\n{text.format(path)}" if text else "")
    ours = {"AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none")}
    ours |= {"AWS_PROFILE": "a"} if text else {name: str(path), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/ci"}
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), "")
    if name in ("AWS_CA_BUNDLE", "SSL_CERT_FILE"):
        keys = dict.fromkeys(keys, "testing-0123456789")
    keys["AWS_REGION"] = REGION
    endpoints = {each: "https://127.0.0.1:1" for each in os.environ if each.startswith("AWS_ENDPOINT_URL")}
    env = environment(**{**endpoints, **keys, "HOME": str(tmp_path), "SMSPEC_HTTP_TIMEOUT": "2"})
    for bundle in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # they win over the profile's
        env.pop(bundle, None)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with start_command(COMMANDS[command], env={**env, **ours}, **streams, text=True) as process:
        try:
            _, shown = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 3, shown
    assert re.search(r"is not a regular file|`credential_process` (does not end within 2 s|prints more)", shown)
    assert "ca_bundle" not in name.lower() or "the CA bundle for AWS is" in shown, shown
