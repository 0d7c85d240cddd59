"""A registry is asked for the digest of a tag, and says it in its own way."""

import socket

import pytest

from registry_server import registry
from smspec.lock.registry import NoAnswer, resolved
from smspec.service.image_reference import parsed_reference

MANIFEST = b'{"schemaVersion": 2, "manifests": []}'


def ask(text):
    return resolved(parsed_reference(text))


@pytest.mark.parametrize("asks_for_token", [False, True], ids=["open", "with tokens"])
@pytest.mark.parametrize("names_digest", [False, True], ids=["in the body", "in the header"])
def test_the_digest_of_a_tag_is_that_of_its_manifest(asks_for_token, names_digest):
    with registry(asks_for_token=asks_for_token, names_digest=names_digest) as server:
        digest = server.add("team/base", "1.2", MANIFEST)
        assert ask(f"{server.host}/team/base:1.2") == digest
        if names_digest:
            assert {method for method, path, _ in server.asked if "/manifests/" in path} == {"HEAD"}


def test_without_a_tag_it_is_the_latest():
    with registry() as server:
        digest = server.add("base", "latest", MANIFEST)
        assert ask(f"{server.host}/base") == digest


@pytest.mark.parametrize(
    ("status", "words"), [(403, "does not let us"), (404, "no such image or tag"), (500, "it answered 500")]
)
def test_a_refusal_is_told_in_a_sentence(status, words):
    with registry(status=status) as server, pytest.raises(NoAnswer, match=words):
        ask(f"{server.host}/base:1")


def test_nobody_there_is_told_in_a_sentence():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    with pytest.raises(NoAnswer, match="connection refused"):
        ask(f"127.0.0.1:{port}/base:1")


def test_a_token_is_not_fetched_from_just_anywhere():
    from smspec.lock.registry import _token

    with pytest.raises(ValueError, match="safely"):
        _token('Bearer realm="http://example.com/token",service="x"', "base")
    with pytest.raises(ValueError, match="safely"):
        _token('Bearer realm="file:///etc/passwd"', "base")
