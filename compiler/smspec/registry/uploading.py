"""Put an image in a repository: blobs that it lacks, and the manifest at the end.

A layer is one request with its whole length. Parts (PATCH) would be simpler to repeat, but Amazon ECR drops all parts
after the first: github.com/aws/containers-roadmap/issues/2831
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from urllib.parse import SplitResult, quote

from smspec.registry.manifest import Blob
from smspec.registry.responses import fault_of
from smspec.registry.session import Session
from smspec.wire.deadline import Deadline
from smspec.wire.exchange import Response
from smspec.wire.fault import BadResponse

Chunks = Callable[[], Iterator[bytes]]
"""Returns the content of a blob from its start, in parts."""

_PIECE = 256 << 10
"""Bytes that are sent within one time limit."""


class Upload:
    """Puts one image in a repository. Its methods raise `WireFault`, and may be called again after one."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def has(self, blob: Blob) -> bool:
        """Return whether the repository has a blob."""
        response = self._session.sent("HEAD", self._session.url(f"blobs/{blob.digest}"), Deadline())
        if response.status == 404:
            return False
        if response.status not in (200, 307):  # the blob may be at a different server
            raise fault_of(response)
        return True

    def mounted(self, blob: Blob, repository: str) -> bool:
        """Take a blob from a different repository of the registry; return whether that worked."""
        words = f"mount={quote(blob.digest)}&from={quote(repository, safe='/')}"
        response = self._begun(f"blobs/uploads/?{words}")
        return response is not None and response.status == 201

    def put_blob(self, blob: Blob, chunks: Chunks) -> None:
        """Send a blob; the registry keeps it only if it has its digest."""
        where = self._session.url("blobs/uploads/")
        response = self._begun("blobs/uploads/")
        if response is None or response.status != 202:
            raise BadResponse("it does not begin an upload")
        where = self._session.location(response, where)
        query = f"digest={quote(blob.digest)}"
        where = where._replace(query=f"{where.query}&{query}" if where.query else query)
        self._finished(self._put(where, blob, chunks))

    def put_manifest(self, tag: str, content: bytes, media_type: str) -> None:
        """Give the image its tag. Only now is anything to be seen in the repository."""
        url = self._session.url(f"manifests/{tag}")
        self._finished(self._session.sent("PUT", url, Deadline(), {"Content-Type": media_type}, content))

    def _begun(self, what: str) -> Response | None:
        """Begin an upload. None: the registry rejects the request, as for a mount that it does not allow."""
        response = self._session.sent("POST", self._session.url(what), Deadline())
        if response.status in (201, 202):
            return response
        if "mount=" in what and response.status in (400, 401, 403, 404, 405):
            return None
        raise fault_of(response)

    def _put(self, where: SplitResult, blob: Blob, chunks: Chunks) -> Response:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        source = chunks()
        first = next(source, b"")  # the time that its server takes is not that of this one
        deadline = Deadline()
        pieces = _pieces(chain((first,), source), deadline)
        return self._session.sent("PUT", where, deadline, headers, pieces if blob.size else b"")

    def _finished(self, response: Response) -> None:
        if response.status not in (201, 204):
            raise fault_of(response)


def _pieces(chunks: Iterator[bytes], deadline: Deadline) -> Iterator[bytes]:
    """Yield chunks in pieces. Each that has left extends the deadline, like what arrives."""
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            piece = chunk[start : start + _PIECE]
            yield piece
            deadline.received(len(piece))
