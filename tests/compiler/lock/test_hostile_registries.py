"""``smspec lock`` pins the digest of an image or nothing: a table of registry responses."""

import json
import time

import pytest

from support.servers.certificates import server_context
from support.servers.hostile_server import Asked, chunked, dripped, hostile_server, response
from support.servers.registry_server import CONFIG, INDEX, MANIFEST, config, descriptor, digest_of, image, index
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

DEADLINE, PATIENCE = 1.0, 20.0
"""Seconds that a slow server has here, and any other, which needs them only on a busy machine."""

GOOD = index()


def manifest(content=GOOD, kind=INDEX, **headers):
    """Return the right response, or one with other headers."""
    named = {"Content-Type": kind, "Docker-Content-Digest": digest_of(content)}
    return response(content, headers={**named, **{name.replace("_", "-"): value for name, value in headers.items()}})


def altered(content, kind=INDEX):
    """Return a response that is wrong in its content only."""
    return manifest(content if isinstance(content, bytes) else json.dumps(content).encode(), kind)


def root(**members):
    return {"schemaVersion": 2, "mediaType": INDEX, "manifests": [], **members}


def of_entry(**members):
    return root(manifests=[{**descriptor(MANIFEST, image()), **members}])


def redirect(location, status="307 Temporary Redirect"):
    return response(status=status, headers={"Location": location})


def challenge(words, scheme="Bearer"):
    return response(status="401 Unauthorized", headers={"WWW-Authenticate": f"{scheme} {words}"})


LOGIN = b"<!DOCTYPE html><html><form action=/login></form></html>"
DEEP = b'{"schemaVersion": 2, "manifests": ' + b"[" * 2000 + b"]" * 2000 + b"}"

MANIFESTS = {
    # What is no response, or not all of one.
    "nothing": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a status that is no number": b"HTTP/1.1 \xb2\xb0\xb0 OK\r\n\r\n",
    "a status above all": response(GOOD, status="999 Fine"),
    "a status below all": response(GOOD, status="20 Fine"),
    "a version of its own": b"HTTP/7.3 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a line that never ends": b"HTTP/1.1 200 " + b"O" * 200_000,
    "a header that never ends": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
    "a thousand headers": b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 1000 + b"\r\n",
    "only interim responses": b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000,
    "half of the headers": manifest()[:60],
    "cut": manifest()[:-7],
    "cut before the body": manifest()[: -len(GOOD)],
    "a cut chunk": response(b"40\r\n" + GOOD[:20], headers={"Content-Type": INDEX, "Transfer-Encoding": "chunked"}),
    "chunks without an end": manifest(chunked(GOOD)[:-5], Content_Length=None, Transfer_Encoding="chunked"),
    "a chunk without a size": manifest(b"xyz\r\n", Content_Length=None, Transfer_Encoding="chunked"),
    "a chunk of a terabyte": manifest(b"fffffffffff\r\n" + GOOD, Content_Length=None, Transfer_Encoding="chunked"),
    # How long it is.
    "no length": manifest(Content_Length=None),
    "two lengths": manifest(Content_Length=(len(GOOD), 5)),
    "a length and chunks": manifest(chunked(GOOD), Transfer_Encoding="chunked"),
    "a negative length": manifest(Content_Length=-5),
    "a length in other digits": manifest(Content_Length="²"),
    "a length with an underscore": manifest(Content_Length="1_0"),
    "another encoding of transfer": manifest(Content_Length=None, Transfer_Encoding="gzip"),
    "a terabyte": manifest(Content_Length=1 << 40),
    "60 MB": lambda: response(b"x" * 60_000_000, headers={"Content-Type": INDEX}),
    "60 MB in chunks": lambda: response(
        chunked(*[b"x" * 1_000_000] * 60),
        headers={"Content-Length": None, "Transfer-Encoding": "chunked", "Content-Type": INDEX},
    ),
    "shorter than it says": manifest(Content_Length=len(GOOD) - 1),
    "compressed": manifest(Content_Encoding="gzip"),
    # What it is.
    "a login page": response(LOGIN, headers={"Content-Type": "text/html; charset=utf-8"}),
    "a login page of the right type": altered(LOGIN),
    "an empty body": manifest(b""),
    "no content": response(status="204 No Content", headers={"Content-Type": INDEX}),
    "a part of the content": manifest().replace(b"200 OK", b"206 Partial Content"),
    "no type": manifest(Content_Type=None),
    "two types": manifest(Content_Type=(INDEX, "text/html")),
    "an older manifest": altered({"schemaVersion": 1}, "application/vnd.docker.distribution.manifest.v1+prettyjws"),
    "another digest": manifest(Docker_Content_Digest=digest_of(b"")),
    "two digests": manifest(Docker_Content_Digest=(digest_of(GOOD), digest_of(b""))),
    "a digest of another kind": manifest(Docker_Content_Digest="sha512:" + "a" * 128),
    "a digest that is none": manifest(Docker_Content_Digest="²"),
    "a list": altered(b"[]"),
    "a text": altered(b'"index"'),
    "UTF-16": altered(GOOD.decode().encode("utf-16")),
    "no UTF-8": altered(GOOD + b"\xff"),
    "two of them": altered(GOOD + GOOD),
    "a member twice": altered(b'{"schemaVersion": 2, "manifests": [], "manifests": []}'),
    "deep": altered(DEEP),
    "a number of 5,000 digits": altered(b'{"manifests": [], "schemaVersion": ' + b"9" * 5000 + b"}"),
    "NaN": altered(b'{"manifests": [], "schemaVersion": NaN}'),
    "another schema": altered(root(schemaVersion=3)),
    "true for two": altered(root(schemaVersion=True)),
    "another type inside": altered(root(mediaType=MANIFEST)),
    "a manifest as an index": altered(image(), INDEX),
    "an index as a manifest": altered(GOOD, MANIFEST),
    "both at once": altered(root(layers=[], config={})),
    "neither": altered({"schemaVersion": 2}),
    "manifests that are no list": altered(root(manifests={})),
    "an entry that is no object": altered(root(manifests=[5])),
    "an entry without a digest": altered(root(manifests=[{"mediaType": MANIFEST, "size": 5}])),
    "an entry with a digest of nothing": altered(of_entry(digest="sha256:")),
    "an entry of a negative size": altered(of_entry(size=-1)),
    "an entry with a text as size": altered(of_entry(size="5")),
    "a platform that is a text": altered(of_entry(platform="linux/amd64")),
    "a platform with a list": altered(of_entry(platform={"os": ["linux"], "architecture": "amd64"})),
    "another platform": altered(index("", ("linux/s390x", "windows/amd64"))),
    "no platform at all": altered(root()),
    "a chart": altered(
        {"schemaVersion": 2, "config": descriptor("application/vnd.cncf.helm.config.v1+json", b"{}"), "layers": []},
        MANIFEST,
    ),
    # Where it sends us.
    "a redirect to nowhere": redirect(""),
    "a redirect without a place": response(status="302 Found"),
    "a redirect to a file": redirect("file:///etc/passwd"),
    "a redirect without encryption": redirect("http://example.invalid/v2/x"),
    "a redirect with a password": redirect("https://me:secret@example.invalid/"),
    "a redirect to a strange port": redirect("http://127.0.0.1:99999/"),
    "a redirect to broken brackets": redirect("http://[::1/"),
    "a redirect in another alphabet": redirect("http://127.0.0.1/\xb2"),
    "two redirects at once": response(status="307 X", headers={"Location": ("/a", "/b")}),
    "not modified": response(status="304 Not Modified"),
    # What it asks for.
    "credentials": challenge("realm=registry", "Basic"),
    "a token without a realm": challenge('service="x"'),
    "a token of a file": challenge('realm="file:///etc/passwd"'),
    "a token without encryption": challenge('realm="http://example.invalid/token"'),
    "a token of user and password": challenge('realm="https://me:secret@example.invalid/token"'),
    "a token of nowhere": challenge('realm="http://127.0.0.1:9/token"'),
    "an endless challenge": challenge('realm="' + "\\" * 60_000),
    "many challenges": challenge(", ".join(f'a{n}="{n}"' for n in range(5000))),
    # How it refuses.
    "a teapot": response(status="418 I'm a teapot\x1b[31m"),
    "busy for ever": response(status="503 Service Unavailable"),
    "gone": response(status="410 Gone"),
}

SLOW = {
    "silent": [30.0],
    "a dripping status": dripped(manifest()),
    "dripping headers": [b"HTTP/1.1 200 OK\r\n", *dripped(b"X-A: b\r\n" * 1000)],
    "a dripping body": [manifest()[: -len(GOOD)], *dripped(GOOD)],
    "dripping chunks": [
        manifest(b"", Content_Length=None, Transfer_Encoding="chunked"),
        *(piece for _ in range(1000) for piece in (b"1\r\n{\r\n", 0.1)),
    ],
    "dripping interim responses": [piece for _ in range(1000) for piece in (b"HTTP/1.1 100 Continue\r\n\r\n", 0.1)],
    "silent in the middle": [manifest()[:-50], 30.0],
}


@pytest.fixture
def locked(tmp_path, monkeypatch):
    """Return what `smspec lock` does with a base in a registry, which must take no longer than it may."""
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", str(PATIENCE))

    def run(host):
        write_job(tmp_path, BUILT.replace("python:3.12-slim-bookworm", f"{host}/team/base:1"))
        return smspec("lock", cwd=tmp_path)

    return run


def assert_refused(done, directory):
    assert (done.status, done.out) == (3, ""), done.err
    cause, ending = done.err.splitlines()
    assert cause.startswith("cannot get the digest of `127.0.0.1:"), done.err
    assert ending.startswith("smspec: smspec.lock not written; pass the missing digests: ")
    assert cause.isprintable() and len(cause) < 400
    assert "Traceback" not in done.err and "internal error" not in done.err
    assert sorted(path.name for path in directory.iterdir()) == ["job.yaml", "src"]


@pytest.mark.parametrize("case", MANIFESTS)
def test_malformed_manifest_is_not_pinned(case, locked, tmp_path):
    with hostile_server(lambda asked: [MANIFESTS[case]]) as server:
        assert_refused(locked(server.host), tmp_path)


@pytest.mark.parametrize("case", SLOW)
def test_slow_registry_times_out(case, locked, tmp_path, monkeypatch):
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", str(DEADLINE))
    started = time.monotonic()
    with hostile_server(lambda asked: list(SLOW[case])) as server:
        done = locked(server.host)
        assert time.monotonic() - started < DEADLINE + PATIENCE  # each would take 30 s or more
    assert_refused(done, tmp_path)
    assert "no complete response within 1 s; SMSPEC_HTTP_TIMEOUT sets a longer time" in done.err


def test_honest_manifest_is_pinned(locked, tmp_path):
    """The unmodified parts of the responses above are valid."""
    with hostile_server(lambda asked: [manifest()]) as server:
        assert locked(server.host).status == 0
        pins = json.loads((tmp_path / "smspec.lock").read_text())["images"]
        assert pins == {f"{server.host}/team/base:1": digest_of(GOOD)}


CONFIGS = {
    "another config": response(b'{"os": "linux", "architecture": "amd64"}'),
    "no config": response(b""),
    "a config that goes on": response(config() + b" "),
    "a config of 60 MB": lambda: response(b" " * 60_000_000),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_config_must_match_its_digest(case, locked, tmp_path):
    def answer(asked: Asked):
        return [CONFIGS[case] if "/blobs/" in asked.target else manifest(image(), MANIFEST)]

    with hostile_server(answer) as server:
        assert_refused(locked(server.host), tmp_path)


ODD_CONFIGS = {
    "a config that is no object": b"[]",
    "a config with a number": b'{"os": 5, "architecture": "amd64"}',
    "a deep config": b"[" * 3000,
    "a config for another platform": config("linux/arm64"),
}


@pytest.mark.parametrize("case", ODD_CONFIGS)
def test_malformed_config_is_not_pinned(case, locked, tmp_path):
    content = ODD_CONFIGS[case]
    named = json.dumps({"schemaVersion": 2, "config": descriptor(CONFIG, content), "layers": []}).encode()

    def answer(asked: Asked):
        return [response(content) if "/blobs/" in asked.target else manifest(named, MANIFEST)]

    with hostile_server(answer) as server:
        assert_refused(locked(server.host), tmp_path)


TOKENS = {
    "no JSON": b"<html>",
    "no object": b'["token"]',
    "no token": b"{}",
    "an empty token": b'{"token": ""}',
    "a number": b'{"token": 5}',
    "a list": b'{"token": ["a"]}',
    "two tokens": b'{"token": "a", "token": "b"}',
    "a line break": b'{"token": "a\\r\\nX-Evil: 1"}',
    "another alphabet": '{"token": "tökén"}'.encode(),
    "a blank": b'{"token": "a b"}',
    "a megabyte": json.dumps({"token": "a" * 1_000_000}).encode(),
    "deep JSON": b'{"token": ' + b"[" * 5000,
    "a surrogate": b'{"token": "\\ud800"}',
}


@pytest.mark.parametrize("case", TOKENS)
def test_malformed_token_is_not_sent(case, locked, tmp_path):
    def answer(asked: Asked):
        if asked.target.startswith("/token"):
            return [response(TOKENS[case])]
        return [challenge(f'realm="http://{server.host}/token",service="s"')]

    with hostile_server(answer) as server:
        assert_refused(locked(server.host), tmp_path)
        assert not any("authorization" in asked.headers for asked in server.asked)


@pytest.mark.parametrize("status", ["403 Forbidden", "500 Oops", "401 Unauthorized", "302 Found"])
def test_rejection_by_the_token_server_is_reported(status, locked, tmp_path):
    def answer(asked: Asked):
        if asked.target.startswith("/token"):
            return [response(b'{"token": "x"}', status=status)]
        return [challenge(f'realm="http://{server.host}/token"')]

    with hostile_server(answer) as server:
        assert_refused(locked(server.host), tmp_path)


TOKEN = "t0ken-of-the-registry"


def with_token(server, then):
    """Return the answers of a registry that wants a token, and what it sends to who has it."""

    def answer(asked: Asked):
        if asked.target.startswith("/token"):
            return [response(json.dumps({"token": TOKEN}).encode())]
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return [challenge(f'realm="http://{server.host}/token"')]
        return [then(asked)]

    return answer


@pytest.mark.parametrize("status", ["301 X", "302 X", "303 X", "307 X", "308 X"])
def test_token_stays_with_its_registry(status, locked, tmp_path):
    """A redirect to a different host or port, which is where it might be sent to, is followed without it."""
    with hostile_server(lambda asked: [manifest()]) as elsewhere, hostile_server() as server:
        place = f"http://{elsewhere.host}/v2/team/base/manifests/1"
        server.answer = with_token(server, lambda asked: redirect(place, status))
        assert locked(server.host).status == 0
        assert elsewhere.asked
        assert TOKEN not in str(elsewhere.asked)


def test_token_does_not_return_through_a_redirect(locked, tmp_path):
    with hostile_server() as elsewhere, hostile_server() as server:
        elsewhere.answer = lambda asked: [redirect(f"http://{server.host}/back")]
        server.answer = with_token(server, lambda asked: redirect(f"http://{elsewhere.host}/there"))
        done = locked(server.host)
        assert_refused(done, tmp_path)
        back = [asked for asked in server.asked if asked.target == "/back"]
        assert back and not any("authorization" in asked.headers for asked in back)


def test_token_goes_only_to_the_registry(locked, tmp_path):
    """A realm elsewhere is normal, as Docker Hub's is."""
    with hostile_server(lambda asked: [response(json.dumps({"access_token": TOKEN}).encode())]) as realm:

        def answer(asked: Asked):
            if asked.headers.get("authorization") == f"Bearer {TOKEN}":
                return [manifest()]
            return [challenge(f'realm="http://{realm.host}/auth?a=b",service="the service",scope="repository:x:pull"')]

        with hostile_server(answer) as server:
            assert locked(server.host).status == 0
        (asked,) = realm.asked
        assert asked.target == "/auth?a=b&scope=repository%3Ax%3Apull&service=the+service"
        assert "authorization" not in asked.headers


def test_redirect_target_cannot_request_a_token(locked, tmp_path):
    with hostile_server() as elsewhere, hostile_server() as server:
        elsewhere.answer = lambda asked: [challenge(f'realm="http://{server.host}/token"')]
        server.answer = lambda asked: [redirect(f"http://{elsewhere.host}/there")]
        assert_refused(locked(server.host), tmp_path)
        assert not any(asked.target.startswith("/token") for asked in server.asked)


def test_redirects_are_limited(locked, tmp_path):
    with hostile_server(lambda asked: [redirect(f"{asked.target}x")]) as server:
        done = locked(server.host)
        assert_refused(done, tmp_path)
        assert "redirects more than 5 times" in done.err
        assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("address", "trusted", "words"),
    [
        ("127.0.0.1", False, "is not trusted: self-signed certificate; for a CA of your own, set REQUESTS_CA_BUNDLE"),
        ("127.0.0.2", True, "'127.0.0.1'; for a CA of your own, add it to REQUESTS_CA_BUNDLE"),
        ("127.0.0.1", True, ""),
    ],
    ids=["unknown", "of another host", "trusted"],
)
def test_certificate_must_match_the_host(address, trusted, words, locked, tmp_path, tmp_path_factory, monkeypatch):
    context, file = server_context(tmp_path_factory.mktemp("tls"), address=address)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(file) if trusted else "")
    with hostile_server(lambda asked: [manifest()], context) as encrypted:
        place = f"https://{encrypted.host}/v2/x"
        with hostile_server(lambda asked: [redirect(place)]) as server:
            done = locked(server.host)
        if not words:
            assert done.status == 0, done.err
            return
        assert_refused(done, tmp_path)
        assert f"the certificate of `{encrypted.host}` is not trusted: " in done.err and words in done.err
        assert encrypted.asked == []


def test_unreadable_certificates_are_reported(locked, tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    with hostile_server(lambda asked: [redirect("https://127.0.0.1:9/")]) as server:
        done = locked(server.host)
    assert_refused(done, tmp_path)
    assert "REQUESTS_CA_BUNDLE is `/nowhere/ca.pem`: no such file or directory" in done.err


@pytest.mark.parametrize("written", ["soon", "0", "-1", "²", "1e3", "9" * 50])
def test_malformed_timeout_is_reported(written, locked, tmp_path, monkeypatch):
    with hostile_server(lambda asked: [manifest()]) as server:
        monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", written)
        done = locked(server.host)
    assert_refused(done, tmp_path)
    assert "set it to a number of seconds, such as 60" in done.err
