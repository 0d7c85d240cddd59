"""S3 objects are listed and fetched in order; errors are one sentence."""

from __future__ import annotations

import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from smspec.local.feeder.entries import entries_of
from smspec.local.feeder.objects import ChannelDataError, StoredObject, StoreUnavailable
from smspec.local.feeder.plan import FeederChannel
from smspec.local.s3 import fetching, parse
from smspec.local.s3.fetching import make_client
from smspec.local.s3.store import S3Store, open_store
from support.servers.aws_server import BUCKET, s3_server

pytestmark = pytest.mark.slow

VARIABLES = ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION")


@pytest.fixture(scope="module")
def server():
    with s3_server() as server:
        yield server


@pytest.fixture
def s3(server, monkeypatch):
    """An empty bucket that the environment leads to."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)
    server.clear()
    return server


def channel(source: str, **members: object) -> FeederChannel:
    return FeederChannel("train", source, **members)


def contents(store: S3Store, parts) -> list[bytes]:
    return [part if blocks is None else b"".join(blocks) for part, blocks in store.contents(parts)]


def test_prefix_is_listed_in_byte_order(s3):
    """S3Prefix: every object whose key begins with the prefix; what consoles make of a directory is none."""
    for key in ("train/b", "train/a/1", "train/Z", "train/é", "train/empty/", "trainer"):
        s3.put(key, b"" if key.endswith("/") else key.encode())
    store = open_store(channel(f"s3://{BUCKET}/train/"))
    listed = entries_of(channel(f"s3://{BUCKET}/train/"), store).objects
    assert [(stored.key, stored.size) for stored in listed] == [("Z", 7), ("a/1", 9), ("b", 7), ("é", 8)]
    assert contents(store, listed) == [b"train/Z", b"train/a/1", b"train/b", "train/é".encode()]
    assert store.has_objects()


@pytest.mark.parametrize(
    ("prefix", "key", "name"),
    [
        ("train/", "train/a/b", "a/b"),
        ("train", "train/a/b", "a/b"),
        ("train", "train2/b", "train2/b"),
        ("data/part-", "data/part-01", "part-01"),
        ("data/one.csv", "data/one.csv", "one.csv"),
        ("", "a/b", "a/b"),
    ],
)
def test_objects_are_named_by_the_rest_of_their_key(prefix, key, name):
    assert parse(f"s3://bucket/{prefix}").relative(key) == name


def test_long_lists_are_paginated(s3, monkeypatch):
    monkeypatch.setattr(fetching, "PAGE", 50)
    for number in range(120):
        s3.put(f"many/{number:05}", b"%d," % number)
    store = open_store(channel(f"s3://{BUCKET}/many/"))
    objects = store.objects()
    assert len(objects) == 120
    assert b"".join(contents(store, objects)) == b"".join(b"%d," % number for number in range(120))


def test_large_objects_are_fetched_in_ranges(s3, monkeypatch):
    monkeypatch.setattr(fetching, "RANGE", 1 << 16)
    large = random.Random(1).randbytes(1_000_003)
    s3.put("large/a", large)
    s3.put("large/b", b"")
    s3.put("large/c", large[: 1 << 16])
    store = open_store(channel(f"s3://{BUCKET}/large/"))
    assert contents(store, store.objects()) == [large, b"", large[: 1 << 16]]
    unknown = [stored._replace(size=None) for stored in store.objects()]
    assert contents(store, [b"label", *unknown]) == [b"label", large, b"", large[: 1 << 16]]


def test_memory_stays_bounded(s3, monkeypatch):
    """A single object may be larger than memory: only so much of it is asked for as was handed on."""
    monkeypatch.setattr(fetching, "RANGE", 1 << 20)
    monkeypatch.setattr(fetching, "AHEAD", 4 << 20)
    s3.put("huge/a", bytes(24 << 20))
    # Of our own process only, so the server's copy is made before.
    store = open_store(channel(f"s3://{BUCKET}/huge/"))
    objects = store.objects()
    asked = []
    fetch = store._fetching._fetch
    monkeypatch.setattr(store._fetching, "_fetch", lambda *words: asked.append(words[1]) or fetch(*words))
    stream = store.contents(objects)
    _, blocks = next(stream)
    taken = 0
    for block in blocks:
        taken += len(block)
        assert len(asked) << 20 <= taken + (6 << 20)
    assert taken == 24 << 20
    stream.close()


def test_closing_early_stops_requests(s3, monkeypatch):
    monkeypatch.setattr(fetching, "RANGE", 1 << 16)
    s3.put("early/a", bytes(4 << 20))
    store = open_store(channel(f"s3://{BUCKET}/early/"))
    stream = store.contents(store.objects())
    _, blocks = next(stream)
    assert next(blocks)
    blocks.close()
    stream.close()
    store._fetching._pool.shutdown()


def test_manifests_are_read_from_s3(s3):
    s3.put("m/list.manifest", b'[{"prefix": "s3://%s/m/"}, "b", "a"]' % BUCKET.encode())
    s3.put("m/a", b"A")
    s3.put("m/b", b"B")
    wanted = channel(f"s3://{BUCKET}/m/list.manifest", s3_data_type="ManifestFile")
    store = open_store(wanted)
    objects = entries_of(wanted, store).objects
    assert [stored.key for stored in objects] == ["b", "a"]
    assert contents(store, objects) == [b"B", b"A"]


def test_augmented_manifests_are_read_from_s3(s3):
    lines = b'{"image-ref": "s3://%s/img/1", "class": 1.50}\n{"image-ref": "img/1", "class": 2}\n' % BUCKET.encode()
    s3.put("train.manifest", lines)
    s3.put("img/1", b"JPG")
    wanted = channel(
        f"s3://{BUCKET}/train.manifest", s3_data_type="AugmentedManifestFile", attributes=["image-ref", "class"]
    )
    store = open_store(wanted)
    entries = entries_of(wanted, store)
    assert contents(store, [part for index in range(len(entries)) for part in entries.parts(index)]) == [
        *(b"JPG", b"1.50", b"JPG", b"2"),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"s3://{BUCKET}/nowhere", "`s3://bucket/nowhere` does not exist"),
        ("s3://no-such-bucket/x", "the bucket of `s3://no-such-bucket/x` does not exist"),
        ("s3://", "`s3://` has no bucket"),
        ("s3://b ad/x", "has no valid bucket name"),
    ],
)
def test_missing_object_is_reported(s3, source, message):
    with pytest.raises(ChannelDataError, match=message) as raised:
        entries_of(channel(source, s3_data_type="ManifestFile"), open_store(channel(source)))
    assert not isinstance(raised.value, StoreUnavailable)


def test_missing_credentials_are_reported(s3, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(StoreUnavailable, match="no AWS credentials to read `s3://bucket/x`"):
        open_store(channel(f"s3://{BUCKET}/x")).objects()


def test_unreachable_endpoint_is_reported(s3, monkeypatch):
    monkeypatch.setenv("S3_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreUnavailable, match="cannot read `s3://bucket/x`: cannot connect to"):
        open_store(channel(f"s3://{BUCKET}/x")).objects()


def test_missing_profile_is_reported(s3, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    with pytest.raises(StoreUnavailable, match="no-such-profile"):
        make_client()


class Faulty(BaseHTTPRequestHandler):
    """Serves one object, and breaks the connection in the middle of every range that it is asked for the first time."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        content, seen = self.server.content, self.server.seen
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        data = content[first : last + 1]
        version = self.server.versions[min(len(seen), len(self.server.versions) - 1)]
        if self.headers.get("If-Match", version) != version:
            self.send_response(412)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Range", f"bytes {first}-{first + len(data) - 1}/{len(content)}")
        self.send_header("ETag", version)
        self.end_headers()
        if first in seen or not self.server.breaks:
            self.wfile.write(data)
        else:
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        seen.add(first)

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def faulty(s3, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.content, server.seen = random.Random(2).randbytes(300_000), set()
    server.versions, server.breaks = ['"1"'], True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("S3_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(fetching, "RANGE", 1 << 16)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_broken_connection_is_retried(faulty):
    store = S3Store(channel("s3://bucket/a"), make_client())
    assert contents(store, [StoredObject("a", "s3://bucket/a", None)]) == [faulty.content]


def test_object_changed_between_ranges_is_not_joined(faulty):
    faulty.breaks, faulty.versions = False, ['"1"', '"2"']
    store = S3Store(channel("s3://bucket/a"), make_client())
    with pytest.raises(ChannelDataError, match="`s3://bucket/a` changed while smspec was reading it"):
        contents(store, [StoredObject("a", "s3://bucket/a", None)])
