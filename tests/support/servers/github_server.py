"""GitHub for tests: the part of its API that keeps the comments of a pull request, a page at a time."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from support.servers.serving import serving

REPOSITORY = "example/jobs"
TOKEN = "t0ken"
PAGE = 2
LONGEST = 65_536


class Github(ThreadingHTTPServer):
    """``comments`` as the API shows them, ``asked`` as (method, path); ``refusals`` are answered first, one each."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, object]] = []
        self.asked: list[tuple[str, str]] = []
        self.refusals: list[int] = []
        self._next = 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/api/v3"

    @property
    def bodies(self) -> list[str]:
        return [str(comment["body"]) for comment in self.comments]

    def add(self, body: str, kind: str = "Bot") -> int:
        """Keep a comment and return its number."""
        self.comments.append({"id": self._next, "body": body, "user": {"login": "someone", "type": kind}})
        self._next += 1
        return self._next - 1


class _Handler(BaseHTTPRequestHandler):
    server: Github

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self._is_refused():
            return
        address = urlsplit(self.path)
        if address.path != f"/api/v3/repos/{REPOSITORY}/issues/7/comments":
            self._answer(404)
            return
        page = int(parse_qs(address.query).get("page", ["1"])[0])
        shown = self.server.comments[(page - 1) * PAGE : page * PAGE]
        more = page * PAGE < len(self.server.comments)
        link = f'<{self.server.url}{address.path.removeprefix("/api/v3")}?page={page + 1}>; rel="next"' if more else ""
        self._answer(200, shown, link)

    def do_POST(self) -> None:
        self._write(f"/api/v3/repos/{REPOSITORY}/issues/7/comments", lambda _, body: self.server.add(body), 201)

    def do_PATCH(self) -> None:
        self._write(f"/api/v3/repos/{REPOSITORY}/issues/comments/(\\d+)", self._rewrite, 200)

    def do_DELETE(self) -> None:
        if self._is_refused():
            return
        number = int(self.path.rpartition("/")[2])
        self.server.comments = [comment for comment in self.server.comments if comment["id"] != number]
        self._answer(204)

    def _rewrite(self, number: int, body: str) -> None:
        next(comment for comment in self.server.comments if comment["id"] == number)["body"] = body

    def _write(self, pattern, change, status: int) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._is_refused():
            return
        place = re.fullmatch(pattern, self.path)
        if place is None:
            self._answer(404)
        elif not content["body"] or len(content["body"]) > LONGEST:
            self._answer(422)
        else:
            change(int(place[1]) if place.groups() else 0, content["body"])
            self._answer(status, {})

    def _is_refused(self) -> bool:
        self.server.asked.append((self.command, urlsplit(self.path).path.removeprefix("/api/v3/repos/")))
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401)
        elif self.server.refusals:
            self._answer(self.server.refusals.pop(0))
        else:
            return False
        return True

    def _answer(self, status: int, content: object = None, link: str = "") -> None:
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if link:
            self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def github() -> Iterator[Github]:
    """Run a server while this is entered."""
    server = Github()
    with serving(server):
        yield server
