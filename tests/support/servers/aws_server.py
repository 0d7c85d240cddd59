"""AWS for tests: moto as a server, and CodeArtifact with a package index behind it, which moto lacks."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import logging
import urllib.request
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.servers.serving import serving

REGION = "us-west-2"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
BUCKET = "bucket"
TOKEN = "eyJ-a-token-that-nobody-may-read"


@contextlib.contextmanager
def s3_server() -> Iterator[S3]:
    """Run moto on a free port, with one empty bucket."""
    from moto.server import ThreadedMotoServer  # takes a second, and is needed where a test of it runs alone

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        endpoint = "http://{}:{}".format(*server.get_host_and_port())
        # What an earlier server of this process held is moto's still.
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST")).close()
        yield S3(endpoint)
    finally:
        server.stop()


class S3:
    """A bucket on a server; ``environ`` is what leads a container to it."""

    def __init__(self, endpoint: str) -> None:
        import boto3

        self.environ = {**CREDENTIALS, "S3_ENDPOINT_URL": endpoint, "AWS_REGION": REGION}
        self.client = boto3.client(
            "s3",
            region_name=REGION,
            endpoint_url=endpoint,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        self.client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})

    def kms_key(self) -> str:
        """Create a key, and return its id."""
        import boto3

        endpoint, region = self.environ["S3_ENDPOINT_URL"], self.environ["AWS_REGION"]
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        kms = boto3.client("kms", region_name=region, endpoint_url=endpoint, **keys)
        return str(kms.create_key()["KeyMetadata"]["KeyId"])

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    @property
    def keys(self) -> list[str]:
        """The key of every object of the bucket."""
        return [entry["Key"] for entry in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    @property
    def objects(self) -> dict[str, bytes]:
        """Every object of the bucket: key → content."""
        return {key: self.content(key) for key in self.keys}

    def content(self, key: str) -> bytes:
        return bytes(self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    def delete(self, *keys: str) -> None:
        if keys:
            self.client.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key} for key in keys]})

    def clear(self) -> None:
        """Delete every object of the bucket."""
        self.delete(*self.keys)


def wheel(name: str, module: str) -> bytes:
    """Return a wheel of one module."""
    buffer = io.BytesIO()
    information = f"{name}-1.dist-info"
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(f"{name}.py", module)
        file.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        file.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{information}/RECORD", "")
    return buffer.getvalue()


@contextlib.contextmanager
def package_server() -> Iterator[PackageServer]:
    """Run CodeArtifact on a free port, with the package `greeting` in its one repository."""
    server = PackageServer()
    with serving(server):
        yield server


class PackageServer(ThreadingHTTPServer):
    """``asked``: method, path and query of every request. ``seen``: whether a command line held the token meanwhile."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _PackageHandler)
        self.asked: list[str] = []
        self.seen = False
        self.environ = {**CREDENTIALS, "AWS_ENDPOINT_URL_CODEARTIFACT": self.url}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def look_at_command_lines(self) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                self.seen = self.seen or TOKEN.encode() in path.read_bytes()


class _PackageHandler(BaseHTTPRequestHandler):
    server: PackageServer

    def do_POST(self) -> None:
        self._answer({"authorizationToken": TOKEN, "expiration": 4102444800})

    def do_GET(self) -> None:
        if self.path.startswith("/v1/repository/endpoint"):
            self._answer({"repositoryEndpoint": f"{self.server.url}/pypi/mine/"})
            return
        self.server.look_at_command_lines()
        password = base64.b64encode(f"aws:{TOKEN}".encode()).decode()
        if self.headers["Authorization"] != f"Basic {password}":
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="packages"'})
        elif self.path == "/pypi/mine/simple/greeting/":
            self._send(200, b'<a href="greeting-1-py3-none-any.whl">w</a>', {"Content-Type": "text/html"})
        elif self.path.endswith(".whl"):
            self._send(200, wheel("greeting", "WORD = 'hello'\n"), {})
        else:
            self._send(404, b"", {})

    def _answer(self, content: dict[str, object]) -> None:
        self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""
