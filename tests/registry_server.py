"""A registry for tests: the part of the distribution API that tells the digest of a tag, with tokens or without."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Registry(ThreadingHTTPServer):
    """``manifests``: (repository, tag) → bytes. ``asked`` is what was asked of it."""

    daemon_threads = True

    def __init__(self, *, asks_for_token: bool = False, names_digest: bool = True, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.manifests: dict[tuple[str, str], bytes] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.asks_for_token = asks_for_token
        self.names_digest = names_digest
        self.status = status

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def add(self, repository: str, tag: str, content: bytes) -> str:
        """Put a manifest under a tag and return its digest."""
        self.manifests[repository, tag] = content
        return f"sha256:{hashlib.sha256(content).hexdigest()}"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        if self.path.startswith("/token?"):
            self._send(200, json.dumps({"token": "t0ken"}).encode(), {}, with_body=True)
        elif self.server.status != 200:
            self._send(self.server.status, b"", {}, with_body=with_body)
        elif self.server.asks_for_token and self.headers.get("Authorization") != "Bearer t0ken":
            realm = f'Bearer realm="http://{self.server.host}/token",service="tests",scope="repository:x:pull"'
            self._send(401, b"", {"WWW-Authenticate": realm}, with_body=with_body)
        else:
            repository, _, tag = self.path.removeprefix("/v2/").partition("/manifests/")
            content = self.server.manifests.get((repository, tag))
            if content is None:
                self._send(404, b"", {}, with_body=with_body)
            else:
                digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
                named = {"Docker-Content-Digest": digest} if self.server.names_digest else {}
                self._send(200, content, named, with_body=with_body)

    def _send(self, status: int, content: bytes, headers: dict[str, str], *, with_body: bool) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(content)


@contextlib.contextmanager
def registry(**traits: object) -> Iterator[Registry]:
    """Run a registry on a free port of this machine."""
    server = Registry(**traits)  # type: ignore[arg-type]  # the traits of a Registry
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
