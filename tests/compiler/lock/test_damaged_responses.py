"""Randomly damaged responses: the result is correct, or the server is reported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.local.feeder.objects import ChannelDataError, StoredObject
from smspec.local.s3 import Location
from smspec.local.s3.fetching import fetch_range, make_client, pages
from smspec.lock.image_locking import NoDigest, resolved
from smspec.service.image_reference import parsed_reference
from support.servers.hostile_s3 import BUCKET, HostileS3
from support.servers.hostile_server import hostile_server, response
from support.servers.registry_server import INDEX, digest_of, index

pytestmark = pytest.mark.slow

GOOD = index()
NAMED = b"Docker-Content-Digest: " + digest_of(GOOD).encode()
RIGHT = response(GOOD, headers={"Content-Type": INDEX, "Docker-Content-Digest": digest_of(GOOD)})
CONTENT = bytes(range(200))

changes = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["set", "cut", "put"])), max_size=4
)


def damaged(data, changed):
    """Return bytes of which some are set to others, taken out, or put in."""
    found = bytearray(data)
    for place, byte, how in changed:
        at = place % (len(found) or 1)
        found[at : at + (how != "put")] = b"" if how == "cut" else bytes([byte])
    return bytes(found)


@pytest.fixture(scope="module")
def server():
    with hostile_server() as server:
        yield server


@pytest.fixture(autouse=True, scope="module")
def client(server):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**HostileS3(server, {}).environ, "SMSPEC_HTTP_TIMEOUT": "0.3"}.items():
            patch.setenv(name, value)
        yield make_client()


lenient = settings(max_examples=25, deadline=None)


@lenient
@given(changes)
def test_damaged_manifest_is_rejected_or_intact(server, changed):
    sent = damaged(RIGHT, changed)
    server.answer = lambda asked: [sent]
    try:
        pinned = resolved(parsed_reference(f"{server.host}/base:1"), ("linux/amd64",)).digest
    except NoDigest as silence:
        assert len(str(silence)) < 400
    else:
        # Without its name in the head nothing tells a different manifest from the right one.
        assert pinned == digest_of(GOOD) or NAMED not in sent


@lenient
@given(changes)
def test_damaged_object_is_rejected_or_intact(server, client, changed):
    s3 = HostileS3(server, {"train/a": CONTENT})

    def override(asked):
        head, end, body = s3.right(asked).partition(b"\r\n\r\n")
        return [damaged(head, changed) + end + body]

    s3.override = override
    stored = StoredObject("a", f"s3://{BUCKET}/train/a", len(CONTENT))
    try:
        found = fetch_range(client, stored, 0, 1000, None)
    except ChannelDataError as fault:
        assert len(str(fault)) < 500
    else:
        assert found.data == CONTENT


@lenient
@given(changes)
def test_damaged_list_stays_below_the_prefix(server, client, changed):
    s3 = HostileS3(server, {"train/a": CONTENT, "train/b": b""})
    s3.override = lambda asked: [damaged(s3.right(asked), changed)]
    try:
        found = [stored for page in pages(client, Location(BUCKET, "train/")) for stored in page]
    except ChannelDataError as fault:
        assert len(str(fault)) < 500
    else:
        assert all(stored.path.startswith(f"s3://{BUCKET}/train/") and stored.size >= 0 for stored in found)
