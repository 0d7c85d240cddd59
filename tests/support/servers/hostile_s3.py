"""An S3 server for tests: one bucket with correct responses, some of which a test replaces."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from support.servers.hostile_server import Asked, HostileServer, Piece, response

BUCKET = "bucket"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "session-token-of-the-tests",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_REGION": "us-west-2",
    "AWS_CONFIG_FILE": "/nowhere/config",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials",
}
XML = {"Content-Type": "application/xml"}

Override = Callable[[Asked], Iterable[Piece] | None]
"""What is sent for a request; None: what is right."""


def is_list(asked: Asked) -> bool:
    return "list-type=2" in asked.target


@functools.cache
def etag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'


def listing(objects: dict[str, int], *, prefix: str = "", more: str = "", count: object = None) -> bytes:
    """Return a list of keys and sizes; ``more`` is put in as it is."""
    items = "".join(
        f"<Contents><Key>{quote(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
        f"<ETag>&quot;x&quot;</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key, size in objects.items()
    )
    truncated = "" if "IsTruncated" in more else "<IsTruncated>false</IsTruncated>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{BUCKET}</Name><Prefix>{escape(quote(prefix))}</Prefix><EncodingType>url</EncodingType>"
        f"<KeyCount>{len(objects) if count is None else count}</KeyCount><MaxKeys>1000</MaxKeys>"
        f"{truncated}{more}{items}</ListBucketResult>"
    ).encode()


def error(code: str, status: str, message: str = "No.") -> bytes:
    """Return a refusal as S3 sends one."""
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return response(body.encode(), status=status, headers=XML)


class HostileS3:
    """Serves ``objects`` of one bucket through a server, except for what ``override`` returns."""

    def __init__(self, server: HostileServer, objects: dict[str, bytes]) -> None:
        self.server = server
        self.objects = objects
        self.override: Override = lambda asked: None
        server.answer = self._answer

    @property
    def environ(self) -> dict[str, str]:
        return {**CREDENTIALS, "S3_ENDPOINT_URL": f"http://{self.server.host}"}

    def right(self, asked: Asked) -> bytes:
        """Return the right response."""
        if is_list(asked):
            prefix = parse_qs(urlsplit(asked.target).query).get("prefix", [""])[0]
            found = {key: len(content) for key, content in self.objects.items() if key.startswith(prefix)}
            return response(listing(found, prefix=prefix), headers=XML)
        content = self.objects.get(unquote(urlsplit(asked.target).path).removeprefix(f"/{BUCKET}/"))
        if content is None:
            return error("NoSuchKey", "404 Not Found")
        if asked.headers.get("if-match", etag(content)) != etag(content):
            return error("PreconditionFailed", "412 Precondition Failed")
        wanted = re.fullmatch(r"bytes=([0-9]+)-([0-9]+)", asked.headers.get("range", ""))
        if wanted is None:
            return response(content, headers={"ETag": etag(content)})
        first, last = int(wanted[1]), min(int(wanted[2]) + 1, len(content)) - 1
        if first > last:
            return error("InvalidRange", "416 Requested Range Not Satisfiable")
        named = {"ETag": etag(content), "Content-Range": f"bytes {first}-{last}/{len(content)}"}
        return response(content[first : last + 1], status="206 Partial Content", headers=named)

    def _answer(self, asked: Asked) -> Iterable[Piece]:
        changed = self.override(asked)
        return [self.right(asked)] if changed is None else changed
