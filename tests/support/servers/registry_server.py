"""A registry server for tests: manifests, configs, and optional tokens."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.servers.serving import serving

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def descriptor(kind: str, content: bytes, **members: object) -> dict[str, object]:
    """Return how a manifest names bytes."""
    return {"mediaType": kind, "digest": digest_of(content), "size": len(content), **members}


def config(platform: str = "linux/amd64", variables: tuple[str, ...] = ()) -> bytes:
    """Return the config of an image with environment variables."""
    system, architecture = platform.split("/")
    settings = {"config": {"Env": list(variables)}} if variables else {}
    return json.dumps({"os": system, "architecture": architecture, "rootfs": {}, "history": [], **settings}).encode()


def image(name: str = "", platform: str = "linux/amd64", variables: tuple[str, ...] = ()) -> bytes:
    """Return the manifest of an image for one platform; each name is a different image."""
    layers = [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", name.encode())]
    parts = {"config": descriptor(CONFIG, config(platform, variables)), "layers": layers}
    return json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, **parts}).encode()


def index(
    name: str = "",
    platforms: tuple[str, ...] = ("linux/amd64", "linux/arm64"),
    variables: tuple[str, ...] = (),
) -> bytes:
    """Return the index of an image for several platforms; each name is a different image."""
    entries = []
    for platform in platforms:
        system, architecture = platform.split("/")
        parts = {"platform": {"os": system, "architecture": architecture}}
        entries.append(descriptor(MANIFEST, image(name, platform, variables), **parts))
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()


class Registry(ThreadingHTTPServer):
    """``contents``: (repository, tag or digest) → type and bytes. ``asked`` is what was asked of it."""

    daemon_threads = True

    def __init__(self, *, asks_for_token: bool = False, names_digest: bool = True, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.contents: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.asks_for_token = asks_for_token
        self.names_digest = names_digest
        self.status = status
        self.mounts = self.has_ranges = True
        self.uploads_at = ""
        """Where uploads go, if not to the registry itself."""
        self.fails_after: int | None = None
        """After how many blobs it takes no more."""
        self.faults: list[tuple[str, int]] = []
        """A method with part of a path, and the status of one such request; 0: the connection breaks."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def add(self, repository: str, tag: str, content: bytes, name: str = "", variables: tuple[str, ...] = ()) -> str:
        """Put a manifest under a tag, with the images and configs that it may name, and return its digest."""
        self.contents[repository, tag] = INDEX if b'"manifests"' in content else MANIFEST, content
        for platform in ("linux/amd64", "linux/arm64"):
            each, part = config(platform, variables), image(name, platform, variables)
            self.contents[repository, digest_of(each)] = "application/octet-stream", each
            self.contents[repository, digest_of(part)] = MANIFEST, part
        return digest_of(content)


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        asked = f"{self.command} {self.path}"
        fault = next((each for each in self.server.faults if re.search(each[0], asked)), None)
        if fault is None:
            return True
        self.server.faults.remove(fault)
        if fault[1]:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._send(fault[1], b"", {}, with_body=False)
        self.close_connection = True
        return False

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_POST(self) -> None:
        """Begin an upload, or take a blob from a different repository."""
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        place, _, query = self.path.partition("?")
        words = urllib.parse.parse_qs(query)
        repository = place.removeprefix("/v2/").removesuffix("/blobs/uploads/")
        there = (words["from"][0], words["mount"][0]) if "mount" in words else None
        if there in self.server.contents and self.server.mounts:
            self.server.contents[repository, there[1]] = self.server.contents[there]
            self._send(201, b"", {}, with_body=False)
        else:
            self._send(202, b"", {"Location": self.server.uploads_at or f"{place}1?state=a"}, with_body=False)

    def do_PUT(self) -> None:
        """Take a blob or a manifest. A blob that does not have its digest is rejected."""
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        content = self.rfile.read(int(self.headers["Content-Length"]))
        place, _, query = self.path.partition("?")
        if "/manifests/" in place:
            repository, _, tag = place.removeprefix("/v2/").partition("/manifests/")
            self.server.contents[repository, tag] = str(self.headers["Content-Type"]), content
            self._send(201, b"", {}, with_body=False)
            return
        digest = urllib.parse.parse_qs(query)["digest"][0]
        if self.server.fails_after is not None:
            self.server.fails_after -= 1
        if digest != digest_of(content) or (self.server.fails_after or 0) < 0:
            self._send(400, b"", {}, with_body=False)
            return
        repository = place.removeprefix("/v2/").partition("/blobs/")[0]
        self.server.contents[repository, digest] = "application/octet-stream", content
        self._send(201, b"", {}, with_body=False)

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
            repository, _, name = re.sub("/(manifests|blobs)/", "\n", self.path.removeprefix("/v2/")).partition("\n")
            if (repository, name) not in self.server.contents:
                self._send(404, b"", {}, with_body=with_body)
            else:
                kind, content = self.server.contents[repository, name]
                named = {"Docker-Content-Digest": digest_of(content)} if self.server.names_digest else {}
                part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if part and self.server.has_ranges:
                    first, last = map(int, part.groups())
                    named["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
                    self._send(206, content[first : last + 1], {"Content-Type": kind, **named}, with_body=with_body)
                    return
                self._send(200, content, {"Content-Type": kind, **named}, with_body=with_body)

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
    with serving(server):
        yield server
