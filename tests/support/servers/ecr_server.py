"""Amazon ECR for tests of what neither moto nor docker-registry can do: its API, with faults, and its registry.

One server: requests of the API come to it directly, those for the registry through it as a proxy, with TLS.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509

from support.servers.certificates import certificate_files
from support.servers.registry_server import digest_of
from support.servers.serving import serving

ACCOUNT = "111122223333"
HOST = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com"
PASSWORD = "eyJ-the-password-of-ecr"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"

Fault = tuple[int, str, str]
"""Status, code, and message."""


def docker_image(architecture: str = "amd64", kind: str = DOCKER_MANIFEST) -> tuple[str, bytes, bytes]:
    """Return the media type, the manifest, and the config of an image."""
    config = json.dumps({"os": "linux", "architecture": architecture, "rootfs": {}, "history": []}).encode()
    parts = {
        "config": {"mediaType": DOCKER_CONFIG, "digest": digest_of(config), "size": len(config)},
        "layers": [{"mediaType": _LAYER, "digest": digest_of(b"layer"), "size": 5}],
    }
    return kind, json.dumps({"schemaVersion": 2, "mediaType": kind, **parts}).encode(), config


class EcrServer(ThreadingHTTPServer):
    """``faults``: what the API answers instead, by action, in order. ``denials``: what the registry answers instead.

    ``repositories``: by name, the request that created each. ``asked``: actions of the API, and paths of the registry.
    ``arriving`` is called before each of those, and may add what was pushed.
    """

    daemon_threads = True

    def __init__(self, directory: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.certificate, key = certificate_files(directory, x509.DNSName(HOST))
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate, key)
        self.faults: dict[str, list[Fault]] = {}
        self.denials: list[Fault] = []
        self.repositories: dict[str, dict[str, object]] = {}
        self.policies: dict[str, dict[str, object]] = {}
        self.contents: dict[str, tuple[str, bytes]] = {}
        self.asked: list[str] = []
        self.arriving: Callable[[], None] = lambda: None

    @property
    def variables(self) -> dict[str, str]:
        """What leads a process to the server."""
        url = f"http://127.0.0.1:{self.server_port}"
        return {
            "AWS_ENDPOINT_URL": url,
            "https_proxy": url,
            "no_proxy": "",
            "REQUESTS_CA_BUNDLE": str(self.certificate),
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def add(self, repository: str, tag: str, image: tuple[str, bytes, bytes]) -> str:
        """Give an image to the registry, and return its digest."""
        kind, manifest, config = image
        self.contents[f"/v2/{repository}/manifests/{tag}"] = kind, manifest
        self.contents[f"/v2/{repository}/blobs/{digest_of(config)}"] = "application/octet-stream", config
        return digest_of(manifest)


class _Handler(BaseHTTPRequestHandler):
    server: EcrServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        action = self.headers["X-Amz-Target"].partition(".")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(action)
        faults = self.server.faults.get(action)
        if faults:
            status, code, message = faults.pop(0)
            answer: dict[str, object] = {"__type": code, "message": message}
        else:
            code, answer = self._done(action, request)
            status = 400 if code else 200
        self._send(status, json.dumps(answer).encode(), "application/x-amz-json-1.1")

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        if self.path != f"{HOST}:443":
            self.close_connection = True
            return
        with suppress(OSError):
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb")
            self.close_connection = False

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.arriving()
        expected = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {expected}":
            self._send(401, b"", "text/plain", {"WWW-Authenticate": 'Basic realm="ecr"'})
        elif self.server.denials:
            status, code, message = self.server.denials.pop(0)
            self._send(status, json.dumps({"errors": [{"code": code, "message": message}]}).encode())
        elif self.path in self.server.contents:
            kind, content = self.server.contents[self.path]
            self._send(200, content, kind, {"Docker-Content-Digest": digest_of(content)})
        else:
            self._send(404, b'{"errors": [{"code": "NAME_UNKNOWN", "message": "not found"}]}')

    def _done(self, action: str, request: dict[str, object]) -> tuple[str, dict[str, object]]:
        name = str(request.get("repositoryName"))
        missing = "RepositoryNotFoundException", {"__type": "RepositoryNotFoundException", "message": "no such"}
        if action == "GetAuthorizationToken":
            token = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
            return "", {"authorizationData": [{"authorizationToken": token, "proxyEndpoint": f"https://{HOST}"}]}
        if action == "DescribeImages":
            return ("", {"imageDetails": []}) if name in self.server.repositories else missing
        if action == "CreateRepository":
            self.server.repositories[name] = request
            return "", {"repository": {"repositoryName": name}}
        assert action == "PutLifecyclePolicy"
        self.server.policies[name] = json.loads(str(request["lifecyclePolicyText"]))
        return "", {"repositoryName": name}

    def _send(
        self, status: int, content: bytes, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""


@contextmanager
def ecr_server(directory: Path) -> Iterator[EcrServer]:
    """Run it on a free port."""
    server = EcrServer(directory)
    with serving(server, poll_interval=0.01):
        yield server
