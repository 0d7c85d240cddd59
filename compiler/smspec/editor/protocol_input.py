"""The messages that an editor sends, within limits. What is not one is answered here, as JSON-RPC defines."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import BinaryIO

MOST_BYTES = 1 << 27
"""Of one message. A longer one is read and dropped in parts."""

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

_LENGTH = re.compile(rb"(?i)(?:^|[\]}\0-\x20])Content-Length:[ \t]*([0-9]{1,12})[ \t]*\r?\n\Z")
_NAME = re.compile(rb"(?i)[ \t]*Content-Length[ \t]*:")
_LONGEST_HEADER = 1 << 16

Answer = Callable[[object, int, str], None]
"""Sends an error: the id of the request, None if it has none; the code; the message."""


class ProtocolInput(io.BufferedIOBase):
    """Reads whole, valid messages from ``stream``, and gives them out as frames; ``last`` is the id of the latest one.

    After a malformed header, it continues with the next ``Content-Length``, which may be in the middle of a line.
    """

    def __init__(self, stream: BinaryIO, answer: Answer) -> None:
        self._stream = stream
        self._answer = answer
        self._frame = io.BytesIO()
        self.last: object = None

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        line = self._frame.readline()
        if not line:
            self._frame = io.BytesIO(self._next())
            line = self._frame.readline()
        return line

    def read(self, size: int | None = -1) -> bytes:
        return self._frame.read(size)

    def _next(self) -> bytes:
        """Return the frame of the next valid message; empty at the end of the input."""
        while (length := self._header()) is not None:
            body = self._body(length)
            if body is not None and len(body) < length:
                return b""
            if body is not None and self._is_message(body):
                return b"Content-Length: %d\r\n\r\n%s" % (length, body)
        return b""

    def _header(self) -> int | None:
        """Return the length of the next body; None at the end of the input."""
        lengths: list[int] = []
        named = 0
        is_malformed = False
        while line := self._stream.readline(_LONGEST_HEADER):
            found = _LENGTH.search(line)
            named += bool(found or _NAME.match(line))
            if found:
                lengths.append(int(found[1]))
            elif not line.strip():
                if lengths and named == 1:
                    return lengths[0]
                if lengths:
                    # Two readers may find the next message in two places, so the body is none; the next one follows
                    # the shortest, or is searched for in the rest.
                    self._answer(None, PARSE_ERROR, "the header has more than one Content-Length")
                    self._drop(min(lengths))
                elif is_malformed:
                    self._answer(None, PARSE_ERROR, "the header has no valid Content-Length")
                lengths, named, is_malformed = [], 0, False
            else:
                # Other headers, such as Content-Type, are allowed.
                is_malformed = is_malformed or not lengths
        return None

    def _body(self, length: int) -> bytes | None:
        """Return the body; None for one that is too large, which is dropped."""
        if length <= MOST_BYTES:
            return self._stream.read(length)
        self._drop(length)
        self._answer(None, INVALID_REQUEST, f"a message has more than {MOST_BYTES >> 20} MiB")
        return None

    def _drop(self, length: int) -> None:
        while length > 0 and (part := self._stream.read(min(length, 1 << 20))):
            length -= len(part)

    def _is_message(self, body: bytes) -> bool:
        """Return whether a body is one message; answer it if not."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._answer(None, PARSE_ERROR, "the message is not JSON")
            return False
        members = data if isinstance(data, dict) else {}
        identity = members.get("id")
        is_named = isinstance(identity, str | int) and not isinstance(identity, bool)
        is_call = isinstance(members.get("method"), str) and isinstance(members.get("params") or {}, dict | list)
        is_response = is_named and ("result" in members or "error" in members)
        if members.get("jsonrpc") != "2.0" or not (is_call or is_response) or not (is_named or "id" not in members):
            self._answer(
                identity if is_named else None, INVALID_REQUEST, "the message is not a request of JSON-RPC 2.0"
            )
            return False
        self.last = identity if is_call else None
        return True
