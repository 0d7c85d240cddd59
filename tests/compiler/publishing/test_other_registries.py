"""`smspec build --push` to registries outside of ECR, with the login of the user's client."""

import base64
import json
import os
import sys

import pytest

from support.container_client import FakeClient
from support.servers.ecr_server import docker_image
from support.servers.registry_server import MANIFEST, digest_of, index, registry
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

LOGIN = base64.b64encode(b"me:pass:word").decode()
PRIVATE = """\
network: {subnets: [subnet-0aa1bb2c], security_groups: [sg-0bb1cc2d]}
api: {AlgorithmSpecification: {TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}}}
"""
HELPER = """\
#!{python} -IS
import json, os, sys
assert sys.argv[1] == "get"
assert os.getcwd() == os.sep  # a shim would read the files of a repository
print(json.dumps({{"ServerURL": sys.stdin.read(), "Username": "me", "Secret": "pass:word"}}))
"""


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A client in the place of docker, and a user without logins."""
    client = FakeClient(tmp_path / "client")
    monkeypatch.setenv("PATH", f"{client.directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "SMSPEC_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home/.docker").mkdir(parents=True)
    return client


def write_spec(tmp_path, server):
    """Write a job with a repository in a registry, and return its directory and the tag of its image."""
    repository = f'bookworm", repository: "{server.host}/team/small"'
    write_job(tmp_path / "job", BUILT.replace('bookworm"', repository) + PRIVATE)
    report = json.loads(smspec("build", "--format", "json", cwd=tmp_path / "job").out)
    return tmp_path / "job", report["image"].rpartition(":")[2]


def add(server, tag, image):
    kind, manifest, config = image
    server.contents["team/small", tag] = kind, manifest
    server.contents["team/small", digest_of(config)] = "application/octet-stream", config
    return digest_of(manifest)


def write_login(tmp_path, server, how):
    config = {"auths": {server.host: {"auth": LOGIN}}} if how == "file" else {"credHelpers": {server.host: "test"}}
    (tmp_path / "home/.docker/config.json").write_text(json.dumps(config))
    program = tmp_path / "client/bin/docker-credential-test"
    program.write_text(HELPER.format(python=sys.executable))
    program.chmod(0o755)


def test_image_is_pushed_with_the_login_of_the_user(client, tmp_path):
    with registry() as server:
        directory, tag = write_spec(tmp_path, server)
        client.will_push("error unauthorized: authentication required")
        done = smspec("build", "--push", cwd=directory)
        assert done.status == 3
        assert done.err.endswith("unauthorized: authentication required; log in with `docker login`\n")
        client.will_push("done")
        assert "its registry does not have it" in smspec("build", "--push", cwd=directory).err
        digest = add(server, tag, docker_image())
        done = smspec("build", "--push", cwd=directory)
    assert done.out.splitlines()[1].endswith(f"@{digest}")
    assert client.asked("login") == []


@pytest.mark.parametrize("how", ["file", "helper"])
def test_tag_is_read_with_the_login_of_the_user(client, tmp_path, how):
    with registry(asks_for_token=True) as server:
        directory, tag = write_spec(tmp_path, server)
        digest = add(server, tag, docker_image())
        write_login(tmp_path, server, how)
        done = smspec("build", "--push", cwd=directory)
        assert (done.status, done.out.rpartition("@")[2]) == (0, f"{digest}\n"), done.err
        sent = {(path.partition("?")[0].partition("/v2/")[0], header) for _, path, header in server.asked}
    assert sent == {("", ""), ("/token", f"Basic {LOGIN}"), ("", "Bearer t0ken")}


def test_registry_without_a_login_is_reported(client, tmp_path):
    with registry(status=403) as server:
        directory, _ = write_spec(tmp_path, server)
        done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    assert done.err.endswith(f"access denied; log in with `docker login {server.host}`\n")
    assert client.asked("build") == []


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (("application/vnd.oci.image.index.v1+json", index(), b""), "it is an index of images"),
        (docker_image(kind=MANIFEST), f"its media type is `{MANIFEST}`"),
    ],
    ids=["index", "OCI"],
)
def test_existing_image_of_another_form_is_reported(client, tmp_path, image, reason):
    with registry() as server:
        directory, tag = write_spec(tmp_path, server)
        add(server, tag, image)
        done = smspec("build", "--push", cwd=directory)
    assert done.status == 3
    assert f"cannot run in SageMaker: {reason}" in done.err


def test_machine_without_an_engine_is_reported(tmp_path, monkeypatch):
    write_job(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SMSPEC_ENGINE", raising=False)
    done = smspec("build", "--image", cwd=tmp_path)
    assert (done.status, done.err.splitlines()[-1]) == (
        3,
        "smspec: no engine builds images here: install docker, podman, nerdctl, or finch",
    )
    done = smspec("build", "--image", "--engine", "podman", cwd=tmp_path)
    assert done.err.endswith("smspec: `--engine podman` is not available: `podman` is not installed\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "docker"), "--engine requires --image or --push"),
        (("--image", "--profile", "p"), "--profile requires --push"),
        (("--push", "--check"), "--check cannot be combined with --image or --push"),
        ((".", "-o", "x"), "--output names one directory, but there are 2 jobs"),
    ],
)
def test_contradicting_arguments_exit_2(tmp_path, words, message):
    for name in ("a", "b"):
        write_job(tmp_path / name, BUILT.replace("name: small", f"name: {name}"))
    paths = () if "." in words else ("a/job.yaml",)
    done = smspec("build", *paths, *words, cwd=tmp_path)
    assert (done.status, done.err.splitlines()[-1]) == (2, f"smspec: {message}")
    assert not (tmp_path / "build").exists()


def test_job_with_an_existing_image_needs_no_engine(tmp_path):
    write_job(
        tmp_path,
        BUILT.replace('{base: "python:3.12-slim-bookworm"}', "111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1"),
    )
    done = smspec("build", "--push", cwd=tmp_path)
    assert (done.status, done.out) == (0, "build/small\n")
    assert "no image to build" in done.err
