"""A proxy that poses as AWS: the names of its hosts lead to moto and to the scripted SageMaker, or to a fault.

A client reaches it as its HTTPS proxy, so that it sees endpoints of AWS, which are no emulator's.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography import x509

from support.servers.aws_server import CREDENTIALS
from support.servers.certificates import certificate_files
from support.servers.serving import serving

_PARENTS = (
    "",
    "us-west-2.",
    "s3.us-west-2.",
    "s3.eu-west-1.",
    "s3.",
    "api.us-west-2.",
    "sagemaker.us-west-2.",
    "ecr.us-west-2.",
)
_NAMES = (
    *(f"*.{parent}amazonaws.com" for parent in _PARENTS),
    *(f"*.{parent}cn-north-1.amazonaws.com.cn" for parent in ("", "s3.", "api.", "sagemaker.", "ecr.")),
    "*.us-gov.amazonaws.com",
    *(f"*.{parent}us-gov-west-1.amazonaws.com" for parent in ("", "s3.", "api.", "sagemaker.", "ecr.")),
)
_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")
HANG, DROP, DRIP = "hang", "drop", "drip"
"""Faults: no answer, a closed connection, and one byte every 50 ms."""


class Refusal(NamedTuple):
    """An answer of AWS to a call that it rejects."""

    status: int
    code: str
    message: str = "as the test wants it"


class PosingAws(ThreadingHTTPServer):
    """``faults``: operation → what it gets instead of an answer: a `Refusal`, bytes of a body, or a function that
    returns them, or a word above.

    ``answers``: operation → a function of the answer of moto, JSON or XML. ``asked``: the operations so far, such as
    ``kms DescribeKey`` and ``s3 HEAD``.
    """

    daemon_threads = True

    def __init__(self, directory: Path, moto: str, sagemaker: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.certificate, key = certificate_files(directory, *map(x509.DNSName, _NAMES))
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate, key)
        self.backends = {"sagemaker": sagemaker, "logs": sagemaker}
        self.moto = moto
        self.closing = threading.Event()
        self.reset()

    def reset(self) -> None:
        """Forget all faults and calls."""
        self.faults: dict[str, Refusal | bytes | Callable[[], bytes] | str] = {}
        self.answers: dict[str, Callable[[bytes], bytes]] = {}
        self.asked: list[str] = []

    @property
    def environ(self) -> dict[str, str]:
        return {
            **CREDENTIALS,
            "AWS_CONFIG_FILE": "/nowhere/config",
            "AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials",
            "https_proxy": f"http://127.0.0.1:{self.server_port}",
            "no_proxy": "127.0.0.1",
            "AWS_CA_BUNDLE": str(self.certificate),
            "REQUESTS_CA_BUNDLE": str(self.certificate),
        }


class _Handler(BaseHTTPRequestHandler):
    server: PosingAws
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        self._host = self.path.partition(":")[0]
        with contextlib.suppress(OSError):
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", buffering=0)
            self.close_connection = False

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scope = re.search(r"/([a-z0-9-]+)/aws4_request", self.headers.get("Authorization", ""))
        service = scope[1] if scope else "none"
        operation = f"{service} {self._operation(service, body)}"
        self.server.asked.append(operation)
        self.close_connection = True
        fault = self.server.faults.get(operation)
        if fault is None:
            self._forward(service, operation, body)
        elif isinstance(fault, Refusal):
            self._refuse(fault)
        elif isinstance(fault, bytes) or callable(fault):
            self._send(200, {"Content-Type": "text/html"}, fault() if callable(fault) else fault)
        elif fault == HANG:
            self.server.closing.wait(60)
        elif fault == DRIP:
            with contextlib.suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
                    self.wfile.write(bytes([byte]))
                    if self.server.closing.wait(0.05):
                        return

    do_GET = do_HEAD = do_PUT = do_POST

    def _operation(self, service: str, body: bytes) -> str:
        if "X-Amz-Target" in self.headers:
            return str(self.headers["X-Amz-Target"]).rpartition(".")[2]
        if self.command == "POST":
            return urllib.parse.parse_qs(body.decode()).get("Action", ["POST"])[0]
        query = urlsplit(self.path).query
        return f"{self.command} location" if query == "location" else self.command

    def _forward(self, service: str, operation: str, body: bytes) -> None:
        backend = urlsplit(self.server.backends.get(service, self.server.moto))
        connection = http.client.HTTPConnection(str(backend.hostname), backend.port, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection",)}
        connection.request(self.command, self.path, body or None, headers)
        response = connection.getresponse()
        content = response.read()
        answer = self.server.answers.get(operation)
        kept = {name: value for name, value in response.getheaders() if name.lower() not in _HOP}
        self._send(response.status, kept, answer(content) if answer else content)
        connection.close()

    def _refuse(self, fault: Refusal) -> None:
        if "X-Amz-Target" in self.headers:
            body = json.dumps({"__type": fault.code, "message": fault.message}).encode()
            self._send(fault.status, {"Content-Type": "application/x-amz-json-1.1"}, body)
            return
        text = f"<Code>{fault.code}</Code><Message>{fault.message}</Message>"
        if "s3" in self._host:
            body = f"<Error>{text}</Error>".encode()
        elif "ec2" in self._host:
            body = f"<Response><Errors><Error>{text}</Error></Errors></Response>".encode()
        else:
            body = f"<ErrorResponse><Error><Type>Sender</Type>{text}</Error></ErrorResponse>".encode()
        self._send(fault.status, {"Content-Type": "text/xml", "x-amzn-ErrorType": fault.code}, body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        with contextlib.suppress(OSError):
            self.send_response_only(status)
            for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def posing_aws(directory: Path, moto: str, sagemaker: str) -> Iterator[PosingAws]:
    """Run it on a free port."""
    server = PosingAws(directory, moto, sagemaker)
    with serving(server, poll_interval=0.01):
        try:
            yield server
        finally:
            server.closing.set()
