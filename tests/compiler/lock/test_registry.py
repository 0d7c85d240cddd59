"""Digests of tags, checked against content and platform."""

import json
import socket

import pytest

from smspec.lock.image_locking import NoDigest, resolved
from smspec.service.image_reference import parsed_reference
from support.servers.registry_server import config, digest_of, image, index, registry


def ask(text, *platforms):
    return resolved(parsed_reference(text), platforms).digest


def python_in(text, *platforms):
    return resolved(parsed_reference(text), platforms, reads_python=True)


@pytest.mark.parametrize("asks_for_token", [False, True], ids=["open", "with tokens"])
@pytest.mark.parametrize("names_digest", [False, True], ids=["unnamed", "named"])
@pytest.mark.parametrize("content", [index(), image()], ids=["index", "manifest"])
def test_digest_of_a_tag_is_that_of_its_manifest(asks_for_token, names_digest, content):
    with registry(asks_for_token=asks_for_token, names_digest=names_digest) as server:
        digest = server.add("team/base", "1.2", content)
        assert ask(f"{server.host}/team/base:1.2", "linux/amd64") == digest


def test_missing_tag_means_latest():
    with registry() as server:
        digest = server.add("base", "latest", index())
        assert ask(f"{server.host}/base") == digest


@pytest.mark.parametrize("content", [index("", ("linux/amd64",)), image()], ids=["index", "manifest"])
@pytest.mark.parametrize(
    ("wanted", "is_there"),
    [("linux/amd64", True), ("linux/x86_64", True), ("linux/arm64", False), ("linux/arm/v7", False)],
)
def test_image_must_be_for_the_platform(content, wanted, is_there):
    with registry() as server:
        digest = server.add("base", "1", content)
        if is_there:
            assert ask(f"{server.host}/base:1", wanted) == digest
        else:
            with pytest.raises(NoDigest, match=f"the image is not for {wanted}; it is for linux/amd64"):
                ask(f"{server.host}/base:1", wanted)


def test_index_variants_and_attestations_are_considered():
    root = json.loads(index("", ("linux/arm64", "unknown/unknown", "linux/arm")))
    root["manifests"][0]["platform"]["variant"] = "v8"
    root["manifests"][2]["platform"]["variant"] = "v7"
    with registry() as server:
        server.add("base", "1", json.dumps(root).encode())
        for wanted in ("linux/arm64", "linux/arm64/v8", "linux/arm", "linux/arm/v7"):
            ask(f"{server.host}/base:1", wanted)
        with pytest.raises(NoDigest, match="it is for linux/arm64/v8, linux/arm/v7"):
            ask(f"{server.host}/base:1", "linux/arm/v6")


@pytest.mark.parametrize("missing", ["os", "architecture"])
def test_platform_that_is_not_complete_may_be_any(missing):
    root = json.loads(index("", ("linux/arm64",)))
    del root["manifests"][0]["platform"][missing]
    with registry() as server:
        digest = server.add("base", "1", json.dumps(root).encode())
        assert ask(f"{server.host}/base:1", "linux/amd64") == digest


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "access denied"), (404, "no such image or tag"), (429, "too many"), (500, "responds 500")],
)
def test_registry_error_is_one_sentence(status, words):
    with registry(status=status) as server, pytest.raises(NoDigest, match=words):
        ask(f"{server.host}/base:1")


def test_unreachable_registry_is_one_sentence():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    with pytest.raises(NoDigest, match="connection refused"):
        ask(f"127.0.0.1:{port}/base:1")


OFFICIAL = ("PATH=/usr/local/bin:/usr/bin", "PYTHON_VERSION=3.13.1", "PYTHON_SHA256=9cf9")


@pytest.mark.parametrize("build", [index, image], ids=["index", "manifest"])
@pytest.mark.parametrize(
    ("variables", "version"),
    [
        (OFFICIAL, "3.13.1"),
        (("PATH=/opt/venv/bin:/usr/local/bin", *OFFICIAL[1:]), "3.13.1"),
        (("PATH=/opt/conda/bin:/usr/bin", "PYTHON_VERSION=3.11"), "3.11"),
        (("PATH=/opt/conda/bin:/usr/local/bin", *OFFICIAL[1:]), ""),
        (("PYTHON_VERSION=3.14.0rc1",), "3.14.0rc1"),
        (("PYTHON_VERSION=2.7.18",), ""),
        (("PYTHON_VERSION=3.11; rm -rf /",), ""),
        (("PYTHON_VERSION",), ""),
        ((), ""),
    ],
)
def test_python_version_comes_from_the_config(build, variables, version):
    with registry() as server:
        digest = server.add("base", "slim", build("x", variables=variables), "x", variables)
        found = python_in(f"{server.host}/base:slim", "linux/amd64")
        assert (found.digest, found.python, found.fault) == (digest, version, "")


def test_registry_without_the_image_still_has_a_digest():
    with registry() as server:
        digest = server.add("base", "slim", index("absent"))
        found = python_in(f"{server.host}/base:slim", "linux/amd64")
        assert (found.digest, found.python) == (digest, "")
        assert "no such image or tag" in found.fault


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"config": 5}', b'{"config": {"Env": [5, null]}}', b"[" * 3000, config() + b" "],
    ids=["empty", "list", "number as config", "numbers as variables", "deep", "other digest"],
)
def test_malformed_config_of_an_index_is_not_read(content):
    with registry() as server:
        digest = server.add("base", "slim", index("x", variables=OFFICIAL), "x", OFFICIAL)
        server.contents["base", digest_of(config("linux/amd64", OFFICIAL))] = "application/octet-stream", content
        found = python_in(f"{server.host}/base:slim", "linux/amd64")
        assert (found.digest, found.python) == (digest, "")
        assert "does not match the digest" in found.fault
