"""Proxies of the environment, with the limits of servers."""

from __future__ import annotations

import pytest

from smspec.wire.connections import Connections, trust_of_environment
from smspec.wire.exchange import fetched
from smspec.wire.fault import BadResponse, ConnectionBroken, Deadline, DeadlineMissed, WireFault
from support.servers.hostile_server import dripped, hostile_server, response


@pytest.fixture
def proxy(monkeypatch):
    with hostile_server(lambda asked: [response(b"by the proxy")]) as server:
        monkeypatch.setenv("http_proxy", f"http://me:secret@{server.host}")
        monkeypatch.setenv("https_proxy", server.host)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server


def got(url):
    return fetched(Connections(trust_of_environment()), url, {}, deadline=Deadline(3), size=1000).response.body


def test_proxy_gets_the_url_and_its_credentials(proxy):
    assert got("http://store.invalid:9000/a?b=c") == b"by the proxy"
    (asked,) = proxy.asked
    assert asked.target == "http://store.invalid:9000/a?b=c"
    assert asked.headers["proxy-authorization"] == "Basic bWU6c2VjcmV0"


def test_no_proxy_exempts_hosts(proxy):
    assert got(f"http://{proxy.host}/z") == b"by the proxy"
    assert proxy.asked[0].target == "/z"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda asked: [response(status="403 Forbidden")], ConnectionBroken),
        (lambda asked: [response(b"not TLS")], BadResponse),
        (lambda asked: dripped(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 90), DeadlineMissed),
    ],
    ids=["refuses", "lies", "drips"],
)
def test_rejected_tunnel_is_reported(answer, fault, proxy):
    proxy.answer = answer
    with pytest.raises(fault):
        got("https://store.invalid/")
    assert proxy.asked[0][:2] == ("CONNECT", "store.invalid:443")


def test_proxy_of_another_protocol_is_reported(proxy, monkeypatch):
    monkeypatch.setenv("https_proxy", "socks5://me:secret@127.0.0.1:9")
    with pytest.raises(WireFault, match="is not an http or https URL"):
        got("https://store.invalid/")
