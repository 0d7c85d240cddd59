"""No command that calls AWS prints its credentials, whatever AWS answers, and with a traceback too."""

import json
import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from smspec.diagnostics.quoting import masked_credentials
from smspec.wire.exchange import parsed
from smspec.wire.fault import BadResponse
from support.forked_command import forked_command
from support.servers.aws_server import BUCKET
from support.servers.hostile_server import hostile_server, response
from support.servers.job_server import COMPLETED, look
from support.smspec_command import environment, smspec, smspec_process

KEY, SECRET, TOKEN = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "FwoGZXIvYXdzEXAMPLEtoken=="
SIGNED = f"""\
The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key.

The Canonical String for this request should have been
'POST
/

host:h
x-amz-security-token:{TOKEN}
"""
OPERATIONS = {
    "submit": ("DescribeTrainingJob", "CreateTrainingJob"),
    "status nightly": ("DescribeTrainingJob",),
    "stop nightly": ("DescribeTrainingJob", "StopTrainingJob"),
    "logs nightly": ("DescribeTrainingJob", "DescribeLogStreams"),
    "logs nightly --follow": ("DescribeTrainingJob",),
    "import nightly": ("DescribeTrainingJob", "ListTags"),
    "collect nightly": ("DescribeTrainingJob",),
}


@pytest.fixture
def signed(aws, monkeypatch):
    """A session with a token, and tracebacks."""
    for name, value in (("ACCESS_KEY_ID", KEY), ("SECRET_ACCESS_KEY", SECRET), ("SESSION_TOKEN", TOKEN)):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("SMSPEC_DEBUG", "1")
    aws.jobs["nightly"] = [look("InProgress", "Training", began=60), COMPLETED]
    return aws


def assert_silent(done):
    assert not [word for word in (KEY, SECRET, TOKEN, TOKEN[:12]) if word in done.out + done.err]


@pytest.mark.parametrize("command", ["submit -v", "submit --dry-run -v", "submit --format json", *OPERATIONS])
def test_credentials_are_not_printed(signed, command):
    assert_silent(smspec(*command.split()))


@pytest.mark.parametrize(
    ("command", "operation"), [(words, each) for words in OPERATIONS for each in OPERATIONS[words]]
)
def test_rejected_signature_prints_no_token(signed, command, operation):
    signed.faults[operation] = [(400, "InvalidSignatureException", SIGNED)] * 9
    done = smspec(*command.split())
    assert_silent(done)
    assert done.status == 3 or operation == "ListTags"
    assert "does not accept the credentials (InvalidSignatureException)" in done.err


def test_expired_credentials_are_named(signed):
    signed.faults["DescribeTrainingJob"] = [(400, "ExpiredTokenException", f"token {TOKEN} expired")] * 9
    done = smspec("submit")
    assert_silent(done)
    assert (done.status, signed.created) == (3, [])
    assert "the AWS credentials have expired; log in again" in done.err


def test_denied_s3_action_names_resource_and_statement(signed, monkeypatch):
    sentence = f'User: ci is not authorized to perform: s3:ListBucket on resource: "arn:aws:s3:::{BUCKET}" because'
    body = f"<Error><Code>AccessDenied</Code><Message>{sentence}</Message></Error>".encode()
    with hostile_server(lambda _: [response(body, status="403 Forbidden")]) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{server.host}")
        done = smspec("submit")
    assert_silent(done)
    assert done.status == 3
    assert f"AWS denies `s3:ListBucket` on `arn:aws:s3:::{BUCKET}`; the statement `ListBucket` of" in done.err


@pytest.mark.parametrize("name", ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"])
@pytest.mark.parametrize("added", ["\n", " ", "é", "\r\nx: y"], ids=["newline", "blank", "letter", "header"])
@pytest.mark.parametrize("command", ["submit --dry-run", "status nightly"])
def test_malformed_credentials_are_not_printed(signed, monkeypatch, name, added, command):
    value = {"ACCESS_KEY_ID": KEY, "SECRET_ACCESS_KEY": SECRET, "SESSION_TOKEN": TOKEN}[name]
    monkeypatch.setenv(f"AWS_{name}", value + added)
    done = smspec(*command.split())
    assert_silent(done)
    assert done.status == 3 and "contains a character that no key has" in done.err


def test_token_that_a_server_repeats_is_not_printed(signed):
    for operation in ("DescribeTrainingJob", "ListTags", "GetCallerIdentity"):
        signed.faults[operation] = [(400, "ValidationException", f"bad token {TOKEN}, key {SECRET}, {TOKEN!r}")] * 20
    for command in ("status nightly", "submit --dry-run", "submit"):
        assert_silent(smspec(*command.split()))


KEPT = "[profile base]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\naws_session_token = {token}\n"
ROLE = "[profile ci]\nrole_arn = arn:aws:iam::123456789012:role/ci\n"
EXPIRES = datetime.now(UTC) + timedelta(hours=9)
SOURCES = {
    "the source of a role": f"{ROLE}source_profile = base\n{KEPT}",
    "the source of a source": f"{ROLE}source_profile = b\n{ROLE.replace('ci]', 'b]')}source_profile = base\n{KEPT}",
    "the environment": f"{ROLE}credential_source = Environment\n",
    "a container": f"{ROLE}credential_source = EcsContainer\n",
    "a web identity": f"{ROLE}web_identity_token_file = token\n",
    "a token of SSO": """\
[profile ci]
sso_session = s
sso_account_id = 123456789012
sso_role_name = ci
[sso-session s]
sso_region = us-west-2
sso_start_url = https://example.awsapps.com/start
""",
    "a program": "[profile ci]\ncredential_process = sh {directory}/program\n",
}


@pytest.mark.parametrize("command", ["status nightly", "submit"])
@pytest.mark.parametrize("source", SOURCES)
def test_sources_of_credentials_are_not_printed(signed, monkeypatch, tmp_path, source, command):
    """The server repeats all that it receives; it never sees the secret key, but another answer may have it."""
    (tmp_path / "config").write_text(SOURCES[source].format(key=KEY, secret=SECRET, token=TOKEN, directory=tmp_path))
    (tmp_path / "token").write_text(TOKEN)
    cached = tmp_path / ".aws" / "sso" / "cache" / f"{sha1(b's').hexdigest()}.json"
    cached.parent.mkdir(parents=True)
    cached.write_text(json.dumps({"accessToken": TOKEN, "expiresAt": f"{EXPIRES:%Y-%m-%dT%H:%M:%SZ}"}))
    # Each call of the program prints other keys, which expire soon: botocore gets new ones before it signs.
    soon = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    printed = {
        "Version": 1,
        "AccessKeyId": KEY,
        "SecretAccessKey": SECRET,
        "SessionToken": "$token",
        "Expiration": soon,
    }
    keys = json.dumps(printed).replace('"', '\\"')
    (tmp_path / "program").write_text(f'echo x >> n; token=$(sha256sum < n | cut -c1-64); echo "{keys}"')
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        if source != "the environment":
            monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", TOKEN)

    def repeat(asked):
        texts = (*asked.headers.values(), *unquote(asked.body.decode()).split("&"))
        token = asked.headers.get("x-amz-security-token") or next((TOKEN for each in texts if TOKEN in each), None)
        received.append(token)
        said = f"bad token {token}" + (f" of {SECRET}" if has_secret else "")
        content = json.dumps({"__type": "ValidationException", "message": said})
        if b"Action=" in asked.body:
            content = f"<ErrorResponse><Error><Code>Bad</Code><Message>{said}</Message></Error></ErrorResponse>"
        return [response(content.encode(), status="400 Bad Request")]

    received: list[str | None] = []
    has_secret = source in ("the environment", "a program") or "base" in SOURCES[source]
    with hostile_server(repeat) as server:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"http://{server.host}/keys")
        for name in ("", "_STS", "_SSO", "_S3"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL{name}", f"http://{server.host}")
        # A process keeps keys of roles. For SSO it has to start: botocore decides when it is imported where tokens are.
        run = smspec_process if "SSO" in source else forked_command
        done = run(*command.split(), "--profile", "ci", env=environment(SMSPEC_DEBUG="1"))
    tokens = [*filter(None, received)]
    assert tokens and "bad token ***" in done.err, done.err
    assert not [token for token in tokens if token in done.out + done.err]
    assert_silent(done)


@pytest.mark.parametrize("command", ["submit --dry-run", "submit", "collect nightly"])
def test_token_of_one_bucket_is_not_printed(signed, monkeypatch, command):
    """S3 Express has own keys for each bucket, and an own header for their token."""
    bucket, token = "bucket--usw2-az1--x-s3", "IQoJb3JpZ2luX2VjEXPRESSsession=="
    signed.request = {"OutputDataConfig": {"S3OutputPath": f"s3://{bucket}/out/"}}
    signed.jobs["nightly"] = [COMPLETED]
    spec = Path("job.yaml")
    spec.write_text(spec.read_text().replace(f"s3://{BUCKET}/", f"s3://{bucket}/"))
    keys = f"<AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}2</SecretAccessKey>"
    session = f"<Credentials>{keys}<SessionToken>{token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"

    def repeat(asked):
        if "session" in asked.target:
            return [response(f"<CreateSessionResult>{session}</Credentials></CreateSessionResult>".encode())]
        said = f"had {asked.headers.get('x-amz-s3session-token')}, not {SECRET}2"
        received.append(said)
        body = f"<Error><Code>BadThing</Code><Message>{said}</Message></Error>".encode()
        return [response(body, status="400 Bad Request")]

    received: list[str] = []
    with hostile_server(repeat) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{server.host}")
        done = smspec(*command.split())
    assert any(token in each for each in received), done.err
    assert "had ***" in done.err and token not in done.out + done.err and SECRET not in done.out + done.err


def with_token(value):
    """Return an answer of which every text that a server is free to choose repeats the token."""
    if isinstance(value, dict):
        kept = ("TrainingJobName", "TrainingJobArn", "TrainingJobStatus", "S3ModelArtifacts", "nextForwardToken")
        return {name: each if name in kept else with_token(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_token(each) for each in value]
    return f"{value} {TOKEN} {quote(TOKEN)}" if isinstance(value, str) else value


@pytest.mark.parametrize("form", ["", " --format json"], ids=["text", "json"])
@pytest.mark.parametrize(
    "command", ["status nightly", "stop nightly", "collect nightly", "submit", "submit --dry-run", "submit --detach"]
)
def test_token_in_a_successful_answer_is_not_printed(signed, monkeypatch, command, form):
    """Names, reasons, statuses, and tags are what a server sends, and may repeat what it has received."""
    smspec("submit", "--detach")
    signed.jobs["nightly"] = [look("Failed", message="said", reason=f"it was {TOKEN[3:]}", began=60, ended=61)]
    described, tags = signed.describe, signed.tags
    added = {"HyperParameters": {TOKEN: "1"}}
    # Of members that differ from a spec only a few are named: the one that has the token in its name.
    answer = (lambda described: described) if command.startswith("submit") else with_token
    monkeypatch.setattr(signed, "describe", lambda request: {**answer(described(request)), **added})
    monkeypatch.setattr(signed, "tags", lambda request: with_token(tags(request)))
    done = smspec(*f"{command}{form if command != 'stop nightly' else ''}".split())
    assert_silent(done)
    assert "***" in done.out + done.err or command in ("stop nightly", "collect nightly")


def test_lines_of_a_log_and_imported_specs_have_no_token(signed, monkeypatch):
    signed.log("algo-1", 61, f"token {TOKEN}", quote(TOKEN, safe=""), "100% of a\\b")
    for words in (["logs", "nightly"], ["logs", "nightly", "--follow"]):
        done = smspec(*words)
        assert_silent(done)
        assert "algo-1 | token ***" in done.out and "algo-1 | 100% of a\\b" in done.out, done.err
    described = signed.describe
    monkeypatch.setattr(signed, "describe", lambda rq: {**described(rq), "HyperParameters": {"note": TOKEN}})
    assert_silent(smspec("import", "nightly"))


@pytest.mark.parametrize("at", range(1, len(TOKEN), 3))
def test_masked_json_is_json(at):
    """A server that divides a token among members must not break the output for programs."""
    halves = {TOKEN[:at]: TOKEN[at:], "items": [TOKEN[:at], TOKEN[at:]], "url": quote(TOKEN)}
    shown = masked_credentials(json.dumps(halves), [SECRET, TOKEN])
    assert TOKEN[:14] not in shown and "***" in shown and len(json.loads(shown)["items"]) == 2


def test_keys_of_an_emulator_are_words(signed, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "minioadmin")
    signed.jobs["minioadmin-1"] = [COMPLETED]
    assert "minioadmin-1" in smspec("status", "minioadmin-1").out


def test_long_results_are_whole():
    text = f"{'0123456789 ' * 20_000}{TOKEN}\n"
    assert masked_credentials(text, [SECRET, TOKEN]) == text.replace(TOKEN, "***==" if "==" in TOKEN else "***")


FORMS = {
    "as it is": lambda secret: secret,
    "URL": lambda secret: quote(secret, safe=""),
    "URL with slashes": quote,
    "URL in lower case": lambda secret: re.sub("%..", lambda match: match[0].lower(), quote(secret, safe="")),
    "URL twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    "XML": lambda secret: secret.replace("=", "&#61;").replace("/", "&#x2F;"),
    "all XML": lambda secret: "".join(f"&#{ord(each)};" for each in secret),
    "JSON": lambda secret: secret.replace("/", "\\/").replace("=", "\\u003d"),
    "cut": lambda secret: secret[: len(secret) * 2 // 3],
    "end": lambda secret: secret[len(secret) // 3 :],
    "lower case": str.lower,
    "Base64": lambda secret: b64encode(f"a{secret}".encode()).decode(),
    "hexadecimal": lambda secret: secret.encode().hex().upper(),
    "lines": lambda secret: "\n".join(secret[at : at + 6] for at in range(0, len(secret), 6)),
    "at the end of what is shown": lambda secret: "-" * 285 + secret,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [SECRET, TOKEN], ids=["secret", "token"])
def test_each_form_of_a_secret_is_masked(form, secret):
    written = FORMS[form](secret)
    shown = masked_credentials(f"bad value {written}, try again", [SECRET, TOKEN])
    assert shown.startswith("bad value ") and shown.endswith(", try again") and "***" in shown
    assert len(re.sub("-|.u003d", "", shown)) < len("bad value ***, try again") + 12, shown


@pytest.mark.parametrize(
    "text", ["a" * 100, "https://s3.us-west-2.amazonaws.com/a%2Fb?c=&amp;d", "role/Training \u2026", ""]
)
def test_text_without_secrets_stays(text):
    assert masked_credentials(text, [SECRET, TOKEN]) == text


@pytest.mark.parametrize("code", [TOKEN, quote(TOKEN), f"x.{TOKEN[:13]}"], ids=["token", "quoted", "cut"])
def test_token_that_a_server_sends_as_error_code_is_not_printed(signed, code):
    for operation in ("DescribeTrainingJob", "ListTags", "GetCallerIdentity"):
        signed.faults[operation] = [(400, code, "bad")] * 20
    for command in ("status nightly", "submit --dry-run", "submit"):
        assert_silent(smspec(*command.split()))


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://user:pass-word@127.0.0.1:9/?key=pass-word",
        "http://127.0.0.1:9/?key=pass-word",
        "http://user:pass-word@",
        "https://user:pass-word@other.s3.us-west-2.amazonaws.com/?key=pass-word",
        "https://user:pass-word@s3.cn-north-1.amazonaws.com.cn",
    ],
)
@pytest.mark.parametrize("service", ["", "_SAGEMAKER", "_S3", "_STS"])
def test_password_of_an_endpoint_is_not_printed(signed, monkeypatch, service, endpoint):
    monkeypatch.delenv("SMSPEC_DEBUG")
    monkeypatch.setenv(f"AWS_ENDPOINT_URL{service}", endpoint)
    for command in ("submit --dry-run", "submit", "status nightly"):
        done = smspec(*command.split())
        assert_silent(done)
        assert "pass-word" not in done.out + done.err


def test_link_of_a_server_is_shown_without_its_signature():
    with pytest.raises(BadResponse) as caught:
        parsed(f"ftp://user:{SECRET}@host/x?X-Amz-Security-Token={TOKEN}")
    assert str(caught.value) == "`ftp://host/x` is not a URL that smspec can follow"
