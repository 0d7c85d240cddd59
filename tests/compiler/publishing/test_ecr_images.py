"""`smspec build --push` to Amazon ECR: what is created, what is rejected, and where the password goes."""

import json
import os
import time

import pytest

from support.container_client import FakeClient
from support.servers.ecr_server import HOST, PASSWORD, docker_image, ecr_server
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

THROTTLED = (400, "ThrottlingException", "Rate exceeded")
ARN = "arn:aws:ecr:us-west-2:111122223333:repository/small"
DENIED = (
    "User: arn:aws:sts::111122223333:assumed-role/Submit/ci is not authorized to perform: {} on resource: "
    + ARN
    + " because no identity-based policy allows the {} action"
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with ecr_server(tmp_path_factory.mktemp("ecr")) as server:
        yield server


@pytest.fixture
def ecr(servers, monkeypatch, tmp_path):
    """AWS, and a user whose client keeps logins in a helper."""
    for emptied in (servers.faults, servers.denials, servers.repositories, servers.policies, servers.contents):
        emptied.clear()
    servers.asked.clear()
    for name, value in servers.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DOCKER_CONFIG", raising=False)
    monkeypatch.delenv("SMSPEC_ENGINE", raising=False)
    config = tmp_path / "home/.docker/config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"credsStore": "keychain", "currentContext": "far", "auths": {"a": {"auth": "x"}}}))
    (config.parent / "contexts").mkdir()
    return servers


@pytest.fixture
def client(tmp_path, monkeypatch):
    client = FakeClient(tmp_path / "client")
    monkeypatch.setenv("PATH", f"{client.directory}{os.pathsep}{os.environ['PATH']}")
    return client


@pytest.fixture
def pauses(monkeypatch):
    """The pauses between attempts, which a test need not wait for."""
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


@pytest.fixture
def job(tmp_path):
    """A job, and the URI of its image."""
    directory = tmp_path / "job"
    write_job(directory)
    report = json.loads(smspec("build", "--format", "json", cwd=directory).out)
    return directory, report["image"]


def tag_of(uri):
    return uri.rpartition(":")[2]


def pushed(ecr, client, uri, image=None):
    """Let the registry have the image, as after a push. The first look-ups of the command find none."""
    digest = ecr.add("small", tag_of(uri), image or docker_image())
    ecr.denials[:] = [(404, "NAME_UNKNOWN", "")]
    client.will_push(f"{tag_of(uri)}: digest: {digest} size: 1")
    return digest


def test_missing_repository_is_created_as_configured(ecr, client, job):
    directory, uri = job
    (directory / "smspec.toml").write_text("[registry]\nimmutable_tags = false\nkeep_images = 7\n")
    digest = pushed(ecr, client, uri)
    done = smspec("build", "--push", cwd=directory)
    assert (done.status, done.out) == (0, f"build/small\n{uri}@{digest}\n"), done.err
    assert done.err.splitlines()[2:] == [
        "engine: docker",
        f"created the repository {HOST}/small",
        f"building the image {uri}",
        f"pushing the image {uri}",
        "pushed 1 of 2 layers",
        "pushed 2 of 2 layers",
        f"pushed {uri}",
    ]
    assert ecr.repositories["small"] == {
        "registryId": "111122223333",
        "repositoryName": "small",
        "imageTagMutability": "MUTABLE",
        "imageScanningConfiguration": {"scanOnPush": True},
    }
    (rule,) = ecr.policies["small"]["rules"]
    assert rule["selection"] == {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 7}


def test_repository_is_not_created_against_the_settings(ecr, client, job):
    directory, _ = job
    (directory / "smspec.toml").write_text("[registry]\ncreate = false\n")
    done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    assert "`registry.create = false`" in done.err
    assert "CreateRepository" not in ecr.asked
    assert client.asked("build") == []


def test_image_in_its_registry_needs_no_engine(ecr, job, monkeypatch, tmp_path):
    directory, uri = job
    digest = ecr.add("small", tag_of(uri), docker_image())
    monkeypatch.setenv("PATH", str(tmp_path))
    done = smspec("build", "--push", "--format", "json", cwd=directory)
    report = json.loads(done.out)
    assert (done.status, report["image_status"], report["image_digest"]) == (0, "present", digest)
    assert f"{uri} is already in its registry" in done.err


def test_password_reaches_the_client_through_stdin_only(ecr, client, job, tmp_path):
    directory, uri = job
    pushed(ecr, client, uri)
    done = smspec("build", "--push", "-v", cwd=directory)
    assert done.status == 0
    (login,) = client.asked("login")
    assert login["words"] == ["login", "--username", "AWS", "--password-stdin", HOST]
    assert login["given"] == PASSWORD
    for record in (login, *client.asked("push")):
        assert record["config"] == {"currentContext": "far", "credHelpers": {HOST: ""}}
        assert record["files"] == ["config.json", "contexts"]
        assert not os.path.exists(record["directory"])
    assert not client.asked("build")[0]["directory"]
    assert PASSWORD not in done.out + done.err
    assert json.loads((tmp_path / "home/.docker/config.json").read_text())["credsStore"] == "keychain"


@pytest.mark.usefixtures("pauses")
def test_throttled_calls_are_repeated(ecr, client, job):
    directory, uri = job
    ecr.faults = {name: [THROTTLED] * 20 for name in ("GetAuthorizationToken", "DescribeImages", "CreateRepository")}
    pushed(ecr, client, uri)
    ecr.denials[:] = [(429, "TOOMANYREQUESTS", ""), (500, "INTERNAL", ""), (404, "NAME_UNKNOWN", "")]
    client.will_push("error toomanyrequests: Rate exceeded", "error unexpected EOF", "done")
    done = smspec("build", "--push", cwd=directory)
    assert done.status == 0, done.err
    assert [record["words"] for record in client.asked("push")] == [["push", uri]] * 3, done.err


def test_endless_throttling_is_reported(ecr, job, pauses):
    directory, _ = job
    ecr.faults = {"GetAuthorizationToken": [THROTTLED] * 1000}
    done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    assert done.err.endswith(f"smspec: cannot log in to `{HOST}`: ThrottlingException: rate exceeded\n")
    assert sum(pauses) < 1000


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ExpiredTokenException", "the AWS credentials have expired; log in again"),
        ("UnrecognizedClientException", "AWS does not accept the credentials (UnrecognizedClientException)"),
    ],
)
def test_unusable_credentials_are_reported(ecr, job, code, message):
    directory, _ = job
    ecr.faults = {"GetAuthorizationToken": [(400, code, "The security token included in the request is expired")]}
    done = smspec("build", "--push", cwd=directory)
    assert (done.status, done.err.splitlines()[-1]) == (3, f"smspec: cannot log in to `{HOST}`: {message}")


@pytest.mark.parametrize(
    ("action", "statement"),
    [
        ("ecr:GetAuthorizationToken", "SignInToECR"),
        ("ecr:DescribeImages", "PushTheImage"),
        ("ecr:CreateRepository", "CreateTheRepository"),
        ("ecr:PutLifecyclePolicy", "CreateTheRepository"),
    ],
)
def test_denied_call_names_its_statement(ecr, client, job, action, statement):
    directory, _ = job
    (directory / "smspec.toml").write_text("[registry]\nkeep_images = 7\n")
    ecr.faults = {action.removeprefix("ecr:"): [(400, "AccessDeniedException", DENIED.format(action, action))]}
    done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    policy = "smspec render job.yaml --iam-policy=submitter"
    assert done.err.splitlines()[-1] == (
        f"smspec: AWS denies `{action}` on `{ARN}`; the statement `{statement}` of `{policy}` allows it"
    )


def test_denied_requests_of_the_registry_name_their_statement(ecr, client, job):
    directory, _ = job
    ecr.denials = [(403, "DENIED", DENIED.format("ecr:BatchGetImage", "ecr:BatchGetImage"))]
    done = smspec("build", "--push", cwd=directory)
    assert f"AWS denies `ecr:BatchGetImage` on `{ARN}`; the statement `PushTheImage` of" in done.err
    client.will_push("error denied: " + DENIED.format("ecr:InitiateLayerUpload", "ecr:InitiateLayerUpload"))
    done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    assert f"AWS denies `ecr:InitiateLayerUpload` on `{ARN}`; the statement `PushTheImage` of" in done.err
    assert len(client.asked("push")) == 1


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (docker_image(kind="application/vnd.oci.image.manifest.v1+json"), "its media type is `application/vnd.oci."),
        (docker_image("arm64"), "the image is not for linux/amd64; it is for linux/arm64"),
    ],
    ids=["OCI", "architecture"],
)
def test_image_that_sagemaker_cannot_start_is_reported(ecr, client, job, image, reason):
    directory, uri = job
    pushed(ecr, client, uri, image)
    for history in (" was pushed, but", ""):
        done = smspec("build", "--push", cwd=directory)
        assert done.status == 3
        assert f"`{uri}`{history} cannot run in SageMaker: {reason}" in done.err


def test_registry_must_have_what_was_pushed(ecr, client, job):
    directory, uri = job
    client.will_push("done")
    done = smspec("build", "--push", cwd=directory)
    assert (done.status, done.err.splitlines()[-1]) == (
        3,
        f"smspec: `{uri}` was pushed, but its registry does not have it",
    )
    pushed(ecr, client, uri)
    client.will_push(f"x: digest: sha256:{'0' * 64} size: 1")
    assert "was pushed as sha256:0000" in smspec("build", "--push", cwd=directory).err


def test_tag_that_another_push_created_is_used(ecr, client, job):
    directory, uri = job
    digest = pushed(ecr, client, uri)
    client.will_push(
        "error tag invalid: The image tag 'x' already exists in the 'small' repository and cannot be overwritten "
        "because the tag is immutable."
    )
    done = smspec("build", "--push", cwd=directory)
    assert (done.status, done.out.splitlines()[1]) == (0, f"{uri}@{digest}")
    assert "is already in its registry" in done.err


def test_password_goes_to_hosts_of_aws_only(ecr, client, tmp_path):
    host = "111122223333.dkr.ecr.us-west-2.amazonaws.com.example.org"
    ignored = "checks: {ignore: [{rule: SM801, because: a test}]}\n"
    write_job(tmp_path / "job", BUILT.replace('bookworm"', f'bookworm", repository: {host}/small') + ignored)
    done = smspec("build", "--push", cwd=tmp_path / "job")
    assert done.status == 3
    assert "GetAuthorizationToken" not in ecr.asked
    assert client.asked("login") == []


def test_images_of_one_registry_share_a_password(ecr, job, tmp_path):
    _, uri = job
    write_job(tmp_path / "jobs/a")
    write_job(tmp_path / "jobs/b", BUILT.replace("name: small", "name: other"))
    other = json.loads(smspec("build", "--format", "json", "jobs/b/job.yaml", cwd=tmp_path).out)["image"]
    digests = [ecr.add(name, tag_of(each), docker_image()) for name, each in (("small", uri), ("other", other))]
    done = smspec("build", "--push", "--format", "json", "jobs", cwd=tmp_path)
    assert [report["image_digest"] for report in json.loads(done.out)] == digests
    assert ecr.asked.count("GetAuthorizationToken") == 1
