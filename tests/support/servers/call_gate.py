"""A gate before the servers of tests: it counts the calls of a command, and kills the command at one of them."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from support.servers.serving import serving

_OWN = ("host", "connection", "transfer-encoding", "expect")


class CallGate(ThreadingHTTPServer):
    """``targets``: the first word of X-Amz-Target → URL of its server; "" for requests without it, which are S3's.

    Those of AWS Batch have none either; their paths begin with its key ``/v1/``.

    ``calls``: what has been called, in order. ``kill``: at which call the guarded process gets the signal ``number``,
    and whether the server gets the call before; the process gets no response to it.
    """

    daemon_threads = True

    def __init__(self, targets: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.targets = targets
        self.reset()

    def reset(self, kill: tuple[int, bool] | None = None, number: int = signal.SIGKILL) -> None:
        self.calls: list[str] = []
        self._number = number
        self.kill = kill
        self._victim = 0
        self._is_known = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def guard(self, victim: int) -> None:
        """Set the process to kill."""
        self._victim = victim
        self._is_known.set()

    def has_killed(self) -> bool:
        """Kill the process, and return True."""
        assert self._is_known.wait(10)
        os.kill(self._victim, self._number)
        return True


class _Handler(BaseHTTPRequestHandler):
    server: CallGate
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        gate = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        service, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
        number = len(gate.calls)
        gate.calls.append(operation or f"{self.command} {self.path}")
        is_last, is_served = gate.kill is not None and gate.kill[0] == number, gate.kill is not None and gate.kill[1]
        if is_last and not is_served:
            self.close_connection = gate.has_killed()
            return
        if self.path.startswith("/v1/"):
            service = "/v1/"
        target = urlsplit(next(url for word, url in gate.targets.items() if service.startswith(word)))
        connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
        connection.request(self.command, self.path, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if is_last:
            self.close_connection = gate.has_killed()
            return
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in (*_OWN, "content-length", "date", "server"):
                self.send_header(name, value)
        length = response.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass_on

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def call_gate(targets: Mapping[str, str]) -> Iterator[CallGate]:
    """Run a gate on a free port."""
    gate = CallGate(targets)
    with serving(gate, poll_interval=0.01):
        yield gate
