"""Secrets by reference: the runtime fetches the values with the standard library alone, and signs each request."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from smspec_runtime.refusal import Refused
from smspec_runtime.secret_fetching import fetch_secrets
from support.runtime.container import Container, wait_until
from support.servers.certificates import server_context
from support.servers.secret_server import KEYS, secret_server

SHOW = "import json, os; print(json.dumps({name: os.environ.get(name) for name in ('A', 'B', 'C', 'D')}))"
PLAN = {"kind": "script", "program": "train.py"}


@pytest.fixture(scope="module")
def server():
    with secret_server() as started:
        yield started


@pytest.fixture
def aws(server):
    server.reset()
    return server


def prepared(tmp_path, script=SHOW, python=sys.executable, **secrets):
    container = Container(tmp_path / "ml", python)
    container.configure({"sagemaker_smspec": json.dumps({"secrets": secrets}), "lr": "0.1"})
    container.write("code/train.py", script)
    return container


def test_values_become_variables(outer_python, tmp_path, aws):
    """A whole secret, a field of one, a version of it, and a parameter; each secret is fetched once."""
    whole = aws.secret("team/wandb", "pässword 'with' \"quotes\"\n and a line $HOME")
    fields = aws.secret("db", json.dumps({"user": "trainer", "port": 5432}))
    container = prepared(
        tmp_path,
        python=outer_python,
        A=whole,
        B=f"{fields}:user",
        C=f"{fields}:port:AWSCURRENT:",
        D=aws.parameter("/wandb/key", "of-the-parameter"),
    )
    done = container.run(plan=PLAN, environ={**aws.environ, "A": "of the image"}, options=["-I", "-S"])
    assert done.status == 0, done.stderr
    value = "pässword 'with' \"quotes\"\n and a line $HOME"
    assert done.shown == {"A": value, "B": "trainer", "C": "5432", "D": "of-the-parameter"}
    actions = [asked.target for asked in aws.asked]
    assert actions == ["secretsmanager.GetSecretValue"] * 3 + ["AmazonSSM.GetParameter"]
    assert aws.asked[2].members == {"SecretId": fields, "VersionStage": "AWSCURRENT"}
    assert aws.asked[3].members["WithDecryption"] is True


def test_variables_may_share_a_secret(tmp_path, aws):
    arn = aws.secret("db", '{"user": "trainer", "password": "of-the-db"}')
    done = prepared(tmp_path, A=f"{arn}:user", B=f"{arn}:password").run(plan=PLAN, environ=aws.environ)
    assert (done.shown["A"], done.shown["B"], len(aws.asked)) == ("trainer", "of-the-db", 1)


def test_credentials_may_be_variables(tmp_path, aws):
    arn = aws.parameter("key", "value")
    names = {
        "AWS_ACCESS_KEY_ID": "AccessKeyId",
        "AWS_SECRET_ACCESS_KEY": "SecretAccessKey",
        "AWS_SESSION_TOKEN": "Token",
    }
    environ = {name: KEYS[key] for name, key in names.items()}
    done = prepared(tmp_path, A=arn).run(plan=PLAN, environ={**environ, "AWS_ENDPOINT_URL": aws.url})
    assert done.shown["A"] == "value"


def test_values_are_in_no_log_and_no_argument(tmp_path, aws):
    """Variables and fields without the name of a secret; the script fails with their values."""
    script = (
        "import json, os, pathlib\n"
        "words = [path.read_bytes() for path in pathlib.Path('/proc').glob('[0-9]*/cmdline')]\n"
        "assert not [word for word in words if b'correct-horse' in word]\n"
        "one = json.loads(os.environ['C'])['value']\n"
        "raise RuntimeError('cannot log in with ' + os.environ['A'] + os.environ['B'] + one)\n"
    )
    container = prepared(
        tmp_path,
        script,
        A=aws.secret("a", "correct-horse-7"),
        B=aws.parameter("b", "correct-horse-8"),
        C=aws.secret("c", '{"user": "me", "value": "correct-horse-9"}'),
    )
    done = container.run(plan=PLAN, environ=aws.environ)
    assert done.status == 1
    assert done.failure.splitlines()[0] == "ExecuteUserScriptError: RuntimeError: cannot log in with ******************"
    assert "correct-horse" not in done.failure
    own = [line for line in done.stderr.splitlines() if line.startswith(b"smspec: ")]
    assert not [line for line in own if b"correct-horse" in line]
    for path in container.base.rglob("*"):
        assert not path.is_file() or path.name == "train.py" or b"correct-horse" not in path.read_bytes(), path


DENIED = {"__type": "AccessDeniedException", "Message": "User: x is not authorized to perform: y"}


def test_denied_secret_names_what_the_role_needs(tmp_path, aws):
    aws.faults = [(400, DENIED)]
    arn = aws.secret("a", "value")
    done = prepared(tmp_path, A=arn).run(plan=PLAN, environ=aws.environ)
    assert (done.status, done.stdout) == (1, b"")
    assert done.failure.splitlines() == [
        f"ClientError: cannot fetch secret `A`, {arn}: AccessDeniedException: User: x is not authorized to perform: y; "
        "the execution role needs secretsmanager:GetSecretValue on it, and kms:Decrypt for a customer managed key",
        "ExitCode 1",
    ]
    assert len(aws.asked) == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "ResourceNotFoundException: Secrets Manager can't find the specified secret."),
        ("missing parameter", "ParameterNotFound: Parameter "),
        ("binary", "it is binary; store it as text"),
        ("no field", "it is not a JSON object with the field `password`"),
        ("no JSON", "it is not a JSON object with the field `password`"),
        ("a NUL", "no variable can have its value: it holds a NUL"),
        ("no value", "it has no value"),
        ("null", "it has no value"),
        ("no ARN", "is not the ARN of a secret or parameter"),
    ],
)
def test_useless_secrets_are_reported(aws, kind, reason, capfd):
    arn = {
        "missing": lambda: aws.secret("a", "x").replace("secret:a", "secret:b"),
        "missing parameter": lambda: aws.parameter("a", "x") + "bc",
        "binary": lambda: aws.secret("a", b"hunter2"),
        "no field": lambda: aws.secret("a", '{"user": "hunter2"}') + ":password",
        "no JSON": lambda: aws.secret("a", "hunter2") + ":password",
        "a NUL": lambda: aws.secret("a", '{"password": "hunter2\\u0000"}') + ":password",
        "no value": lambda: aws.parameter("a", "hunter2"),
        "null": lambda: aws.parameter("a", "hunter2"),
        "no ARN": lambda: "hunter2",
    }[kind]()
    aws.faults = {"no value": [(200, {"Tier": "Standard"})], "null": [(200, {"Parameter": {"Value": None}})]}.get(
        kind, []
    )
    with pytest.raises(Refused) as refused:
        fetch_secrets({"A": arn}, aws.environ)
    assert reason in str(refused.value)
    assert "secret `A`" in str(refused.value)
    assert "hunter2" not in str(refused.value) + capfd.readouterr().err


def test_throttling_is_retried(tmp_path, aws):
    """Also errors of the service, and a connection that breaks; the log names the reason once."""
    aws.faults = [(400, {"__type": "com.amazonaws#ThrottlingException", "message": "slow down"}), (503, {}), (429, {})]
    done = prepared(tmp_path, A=aws.secret("a", "value")).run(plan=PLAN, environ=aws.environ)
    assert done.shown["A"] == "value"
    assert done.stderr.count(b"trying again") == 1
    assert b"ThrottlingException: slow down" in done.stderr


def test_unreachable_service_is_waited_for_and_stoppable(tmp_path, aws):
    """In a VPC without an endpoint nothing answers. SIGTERM ends the wait."""
    environ = {**aws.environ, "AWS_ENDPOINT_URL_SSM": "http://127.0.0.1:9"}
    with prepared(tmp_path, A=aws.parameter("a", "value")).start(plan=PLAN, environ=environ) as process:
        line = wait_until(process.stderr.readline)
        assert b"trying again for at most " in line
        assert b"cannot reach 127.0.0.1:9" in line
        assert b"in a VPC it needs an endpoint or a NAT gateway" in line
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 128 + signal.SIGTERM
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({}, "no AWS credentials: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set"),
        (
            {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.com/x"},
            "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this host",
        ),
        ({"AWS_CA_BUNDLE": "/nowhere.pem"}, "cannot read AWS_CA_BUNDLE: [Errno 2] No such file or directory"),
    ],
)
def test_missing_credentials_are_reported(environ, reason):
    with pytest.raises(Refused) as refused:
        fetch_secrets({"A": "arn:aws:ssm:us-west-2:123456789012:parameter/a"}, environ)
    assert f"cannot fetch secret `A`, arn:aws:ssm:us-west-2:123456789012:parameter/a: {reason}" in str(refused.value)


def test_certificates_are_verified(tmp_path, aws):
    """By the image's own, or AWS_CA_BUNDLE; an image without any has its own message."""
    context, certificate = server_context(tmp_path)
    arn = aws.parameter("a", "value")
    plain, aws.socket = aws.socket, context.wrap_socket(aws.socket.dup(), server_side=True)
    try:
        environ = {
            **{name: KEYS[key] for name, key in (("AWS_ACCESS_KEY_ID", "AccessKeyId"), ("AWS_SESSION_TOKEN", "Token"))},
            "AWS_SECRET_ACCESS_KEY": KEYS["SecretAccessKey"],
            "AWS_ENDPOINT_URL": aws.url.replace("http:", "https:"),
        }
        trusting = prepared(tmp_path / "trusting", A=arn).run(
            plan=PLAN, environ={**environ, "AWS_CA_BUNDLE": str(certificate)}
        )
        nowhere = {"SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"}
        bare = prepared(tmp_path / "bare", A=arn).run(plan=PLAN, environ={**environ, **nowhere})
        other = prepared(tmp_path / "other", A=arn).run(
            plan=PLAN, environ={**environ, "SSL_CERT_FILE": str(_other_certificate(tmp_path))}
        )
    finally:
        aws.socket.close()
        aws.socket = plain
    assert trusting.shown["A"] == "value"
    assert "the image has no CA certificates; install `ca-certificates` in it" in bare.failure
    assert "certificate verify failed" in other.failure
    assert "ca-certificates" not in other.failure


def _other_certificate(directory):
    (directory / "of-another").mkdir()
    return server_context(directory / "of-another")[1]


UNSHARE = ["unshare", "--net", "--map-root-user", "--user"]


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0,
    reason="no network namespaces for this user",
)
def test_agent_of_sagemaker_is_asked_for_credentials(tmp_path):
    """AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is a path on 169.254.170.2, past any proxy."""
    inside = tmp_path / "inside.py"
    inside.write_text(INSIDE)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*UNSHARE, sys.executable, str(inside), str(tmp_path)], env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["A"] == "value"


INSIDE = """
import fcntl, json, socket, socketserver, struct, sys, threading
from pathlib import Path

from smspec_runtime.refusal import Refused
from smspec_runtime.secret_fetching import fetch_secrets
from support.runtime.container import Container
from support.servers.secret_server import Handler


def up(name, address=""):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        if address:
            family = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(own, 0x8916, struct.pack("16s16s8x", name, family))  # SIOCSIFADDR
        fcntl.ioctl(own, 0x8914, struct.pack("16sH22x", name, 0x49))  # SIOCSIFFLAGS: up, loopback, running


def serve(address, faults=()):
    server = socketserver.ThreadingTCPServer(address, Handler)  # A server of HTTP looks up its own name.
    server.asked, server.faults, server.daemon_threads = [], [*faults], True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]


up(b"lo")
up(b"lo:1", "169.254.170.2")
serve(("169.254.170.2", 80))
ssm = serve(("127.0.0.1", 0), [(200, {"Parameter": {"Value": "value"}})])
container = Container(Path(sys.argv[1]) / "ml")
secrets = {"A": "arn:aws:ssm:us-west-2:123456789012:parameter/a"}
container.configure({"sagemaker_smspec": json.dumps({"secrets": secrets})})
container.write("code/train.py", "import json, os; print(json.dumps(dict(A=os.environ['A'])))")
environ = {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/credentials", "AWS_ENDPOINT_URL_SSM": ssm}
environ.update(http_proxy="http://127.0.0.1:9", no_proxy="127.0.0.1")
done = container.run(plan={"kind": "script", "program": "train.py"}, environ=environ)
sys.stderr.write(done.stderr.decode())
sys.stdout.write(done.stdout.decode())
"""


HANDLER = """
import os

def each(job, epoch, streams):
    print(job.host, epoch, os.environ["A"], sum(map(len, streams["train"])))
"""


def test_every_host_of_a_pipe_loop_gets_the_values(tmp_path, aws):
    arn = aws.secret("a", "value")
    hosts = ("algo-1", "algo-2")
    for host in hosts:
        container = Container(tmp_path / host)
        settings = json.dumps({"secrets": {"A": arn}})
        container.configure({"sagemaker_smspec": settings}, {"train": {"TrainingInputMode": "Pipe"}}, hosts, host)
        container.write("code/reader.py", HANDLER)
        container.write("input/data/train_0", b"1234")  # A file is one epoch.
        done = container.run(plan={"kind": "pipe_loop", "program": "reader:each"}, environ=aws.environ)
        assert done.stdout.splitlines()[0] == f"{host} 0 value 4".encode(), done.stderr
    assert len(aws.asked) == len(hosts)


def test_every_host_of_torchrun_gets_the_values(tmp_path, aws):
    arn = aws.secret("a", "correct-horse-7")
    hosts = ("algo-1", "algo-2")
    for host in hosts:
        container = Container(tmp_path / host)
        container.configure({"sagemaker_smspec": json.dumps({"secrets": {"A": arn}})}, hosts=hosts, current=host)
        container.write("code/train.py", "")
        show = "import json, os, sys; print(json.dumps([os.environ['A'], *sys.argv[1:]]))"
        container.write("bin/torchrun", f"#!{sys.executable}\n{show}", 0o755)
        path = {"PATH": f"{container.base}/bin:{os.environ['PATH']}", "SM_STUDIO_LOCAL_MODE": "true"}
        done = container.run(plan={**PLAN, "launcher": "torchrun"}, environ={**aws.environ, **path})
        value, *words = done.shown
        assert (value, "correct-horse-7" in " ".join(words)) == ("correct-horse-7", False)


@pytest.mark.parametrize("leader", ["127.0.0.1:7000,7001", ":"])
def test_local_run_never_asks(tmp_path, leader):
    """`smspec run` has set the variables; they are still masked."""
    script = "import os; raise RuntimeError('cannot log in with ' + os.environ['A'])"
    container = prepared(tmp_path, script, A="arn:aws:ssm:us-west-2:123456789012:parameter/a")
    environ = {"A": "correct-horse-7", "SMSPEC_LOCAL_LEADER": leader}
    done = container.run(plan=PLAN, environ=environ)
    assert done.failure.splitlines()[0] == "ExecuteUserScriptError: RuntimeError: cannot log in with ******"
