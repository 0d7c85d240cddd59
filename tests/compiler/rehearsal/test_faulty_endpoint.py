"""The proxy passes on what it does not disturb, byte for byte, and disturbs requests in a known order."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from smspec.rehearsal import faulty_endpoint
from smspec.rehearsal.faulty_endpoint import FaultCourse, FaultyEndpoint

CONTENT = bytes(range(256)) * 4000


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._answer(CONTENT)

    def do_PUT(self):
        self._answer(self.rfile.read(int(self.headers["Content-Length"]))[::-1])

    def _answer(self, content):
        self.server.seen.append((self.command, self.path, self.headers["Host"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def behind(server, monkeypatch):
    monkeypatch.setattr(faulty_endpoint, "LATE_SECONDS", 0.2)
    opened = []

    def open_endpoint(is_down=False):
        opened.append(FaultyEndpoint(f"http://127.0.0.1:{server.server_port}", FaultCourse(is_down=is_down)))
        return opened[-1]

    yield open_endpoint
    for endpoint in opened:
        endpoint.close()
    for thread in threading.enumerate():
        if thread.name == "faulty endpoint":
            thread.join(10)
            assert not thread.is_alive()


def send(endpoint, path, method="GET", body=None, **headers):
    """Return the status and the content of a response, or the kind of error."""
    host = endpoint.url.removeprefix("http://")
    client = http.client.HTTPConnection(host, timeout=10)
    try:
        client.request(method, path, body, headers)
        response = client.getresponse()
        return response.status, response.read()
    except ConnectionError:
        return "closed"
    finally:
        client.close()


def test_first_attempts_fail_in_order_and_second_ones_succeed(behind):
    endpoint = behind()
    outcomes = {}
    for number in range(7):
        outcomes[number] = [send(endpoint, f"/{number}") for _ in range(2)]
    whole = (200, CONTENT)
    assert [outcomes[number][0] for number in (1, 2, 3, 5)] == [whole] * 4
    assert [outcomes[number][0][0] for number in (0, 6)] == [503, 503]
    assert outcomes[4][0] == "closed"
    assert all(second == whole for _, second in outcomes.values())
    assert str(endpoint.struck) == "2 503 SlowDown, 1 slow, 1 closed of 14 requests"


def test_faults_are_few_however_many_requests_arrive():
    course = FaultCourse(is_down=False)
    faults = [course.fault(b"GET /%d" % number) for number in range(1000)]
    assert [faults.count(kind) for kind in ("error", "slow", "reset")] == [8, 5, 8]
    assert course.struck.requests == 1000


def test_parts_of_an_object_are_different_requests(behind):
    endpoint = behind()
    assert [send(endpoint, "/a", Range=f"bytes={n}-")[0] for n in (0, 1, 0)] == [503, 200, 200]


def test_body_and_host_arrive_unchanged(behind, server):
    """The signature of a request covers its host."""
    endpoint = behind()
    assert send(endpoint, "/a", "PUT", CONTENT)[0] == 503
    assert send(endpoint, "/a", "PUT", CONTENT) == (200, CONTENT[::-1])
    assert server.seen == [("PUT", "/a", endpoint.url.removeprefix("http://"))]


def test_endpoint_that_is_down_forwards_nothing(behind, server):
    endpoint = behind(is_down=True)
    assert [send(endpoint, "/a")[0] for _ in range(3)] == [503] * 3
    assert server.seen == []
    assert endpoint.struck.faults == endpoint.struck.requests == 3


def test_closed_endpoint_accepts_nothing(behind):
    endpoint = behind()
    endpoint.close()
    assert send(endpoint, "/a") == "closed"
    assert endpoint.struck.requests == 0
