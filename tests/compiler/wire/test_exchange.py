"""One request and its response: malformed responses get one sentence."""

import pytest

from smspec.wire.connections import Connections, Trust
from smspec.wire.exchange import fetched
from smspec.wire.fault import BadResponse, Deadline
from support.servers.hostile_server import hostile_server, response


@pytest.mark.parametrize("size", [b"-5", b"-0x5", b"-" + b"f" * 20], ids=["decimal", "prefix", "long"])
def test_negative_chunk_size_is_malformed(size):
    body = size + b"\r\nsmall\r\n0\r\n\r\n"
    answer = response(body, headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
    with hostile_server(lambda asked: [answer]) as server, pytest.raises(BadResponse) as fault:
        fetched(Connections(Trust()), f"http://{server.host}/", {}, deadline=Deadline(), size=100)
    assert str(fault.value) == "the response is not well-formed HTTP"
