"""A package index for tests: wheels, the pages that list them, and a server that may misbehave."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import re
import tarfile
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.servers.serving import serving


def wheel(name: str, version: str, files: dict[str, str], *requires: str, python: str = "", tag: str = "") -> bytes:
    """Return a wheel with files that pip and uv can install; ``requires``: its dependencies."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Python: {python}\n" if python else ""
    metadata += "".join(f"Requires-Dist: {each}\n" for each in requires)
    kind = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag or 'py3-none-any'}\n"
    contents = {**files, f"{folder}/METADATA": metadata, f"{folder}/WHEEL": kind}
    record = "".join(f"{path},{_record(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for path, text in contents.items():
            opened.writestr(zipfile.ZipInfo(path), text)
    return archive.getvalue()


def _record(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


class Packages:
    """The files of an index: file name → bytes, and the Python that each requires."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.pythons: dict[str, str] = {}

    def add(
        self,
        name: str,
        version: str,
        *requires: str,
        files: dict[str, str] | None = None,
        python="",
        tag="py3-none-any",
    ) -> str:
        """Add a wheel and return its file name; by default with a package of its name."""
        module = name.replace("-", "_")
        content = wheel(name, version, files or {f"{module}/__init__.py": ""}, *requires, python=python, tag=tag)
        file = f"{module}-{version}-{tag}.whl"
        self.files[file], self.pythons[file] = content, python
        return file

    def add_source(self, name: str, version: str, mark: Path, metadata: str = "2.1") -> str:
        """Add a source distribution whose build backend creates a file; return its file name.

        From version 2.2 of its metadata on, a resolver may use them without a build.
        """
        info = f"Metadata-Version: {metadata}\nName: {name}\nVersion: {version}\n"
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        backend = f"""\
import os
open({str(mark)!r}, "a").close()
def prepare_metadata_for_build_wheel(directory, settings=None):
    os.makedirs(os.path.join(directory, {folder!r}))
    for name, text in (("METADATA", {info!r}), ("WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")):
        with open(os.path.join(directory, {folder!r}, name), "w") as file:
            file.write(text)
    return {folder!r}
"""
        system = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as opened:
            for path, text in (("PKG-INFO", info), ("pyproject.toml", system), ("backend.py", backend)):
                member = tarfile.TarInfo(f"{name}-{version}/{path}")
                member.size = len(text.encode())
                opened.addfile(member, io.BytesIO(text.encode()))
        file = f"{name}-{version}.tar.gz"
        self.files[file], self.pythons[file] = archive.getvalue(), ""
        return file

    def projects(self) -> set[str]:
        return {_project(file) for file in self.files}

    def page(self, project: str, root: str) -> str:
        """Return the page of a project, with links to the files below ``root``."""
        links = "".join(
            f'<a href="{root}{file}#sha256={hashlib.sha256(content).hexdigest()}"'
            f' data-requires-python="{self.pythons[file].replace(">", "&gt;").replace("<", "&lt;")}">{file}</a>\n'
            for file, content in sorted(self.files.items())
            if _project(file) == project
        )
        return f"<!DOCTYPE html><html><body>\n{links}</body></html>\n"

    def write(self, directory: Path) -> str:
        """Write the index to a directory and return its URL."""
        for project in self.projects():
            (directory / project).mkdir(parents=True, exist_ok=True)
            (directory / project / "index.html").write_text(self.page(project, "../files/"))
        (directory / "files").mkdir(parents=True, exist_ok=True)
        for file, content in self.files.items():
            (directory / "files" / file).write_bytes(content)
        return directory.resolve().as_uri()


def _project(file: str) -> str:
    return re.sub(r"[-_.]+", "-", file.partition("-")[0]).lower()


class PackageServer(ThreadingHTTPServer):
    """Serves `Packages` at ``/simple/`` and ``/files/``. ``asked``: path and Authorization of each request.

    ``password``: of the user `author`, who may use it, if it is set. ``ranges`` False: it sends whole files only.
    ``status``, ``content``, ``place``: file → what it answers smspec instead: a status, other bytes, a redirect.
    ``pause``: seconds before any answer. ``absent``: the status of what it does not have.
    """

    daemon_threads = True

    def __init__(self, packages: Packages) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.packages = packages
        self.asked: list[tuple[str, str]] = []
        self.password = ""
        self.ranges = True
        self.pause = 0.0
        self.absent = 404
        self.status: dict[str, int] = {}
        self.content: dict[str, bytes] = {}
        self.place: dict[str, str] = {}
        self.truncated: set[str] = set()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/simple"


class _Handler(BaseHTTPRequestHandler):
    server: PackageServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        server, authorization = self.server, self.headers.get("Authorization", "")
        server.asked.append((self.path, authorization))
        time.sleep(server.pause)
        expected = "Basic " + base64.b64encode(f"author:{server.password}".encode()).decode()
        if server.password and authorization != expected:
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="packages"'}, with_body)
            return
        _, kind, *rest = self.path.split("/")
        project = rest[0] if rest else ""
        if kind == "simple" and project in server.packages.projects():
            # Without the second header some versions of uv keep a page for minutes.
            headers = {"Content-Type": "text/html", "Cache-Control": "no-cache"}
            self._send(200, server.packages.page(project, "/files/").encode(), headers, with_body)
        elif kind == "files" and project in server.packages.files:
            self._file(project, with_body)
        else:
            self._send(server.absent, b"", {}, with_body)

    def _file(self, name: str, with_body: bool) -> None:
        server = self.server
        # Resolvers get what the index lists.
        is_ours = self.headers.get("User-Agent") == "smspec"
        content = server.content.get(name, b"") if is_ours else b""
        content = content or server.packages.files[name]
        part = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if is_ours and name in server.status:
            self._send(server.status[name], b"", {}, with_body)
        elif is_ours and name in server.place:
            self._send(302, b"", {"Location": server.place[name]}, with_body)
        elif part and server.ranges:
            first = max(0, len(content) - int(part[2])) if not part[1] else int(part[1])
            last = len(content) - 1 if not (part[1] and part[2]) else min(int(part[2]), len(content) - 1)
            headers = {"Content-Range": f"bytes {first}-{last}/{len(content)}", "Accept-Ranges": "bytes"}
            body = content[first : last + 1]
            self._send(206, body[:-9] if is_ours and name in server.truncated else body, headers, with_body, len(body))
        else:
            self._send(200, content, {}, with_body)

    def _send(self, status: int, content: bytes, headers: dict[str, str], with_body: bool, length: int = -1) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content) if length < 0 else length)}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(content)
        if length > len(content):
            self.close_connection = True


@contextlib.contextmanager
def package_server(packages: Packages) -> Iterator[PackageServer]:
    """Run an index on a free port of this machine."""
    server = PackageServer(packages)
    with serving(server):
        yield server
