"""Connect the protocol to what answers it: each request of an editor is a function here.

The messages of the editor are read within limits, and what is not one is answered here, as JSON-RPC defines. The server
ends when the editor that started it is gone, even if a different process keeps its stdin open.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from smspec import __version__
from smspec.editor.answers import answer_questions
from smspec.editor.checking import Checking
from smspec.editor.open_documents import OpenDocument, OpenDocuments, path_of

MOST_BYTES = 1 << 27
"""Of one message. A longer one is read and dropped in parts."""

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

_LENGTH = re.compile(rb"(?i)(?:^|[\]}\0-\x20])Content-Length:[ \t]*([0-9]{1,12})[ \t]*\r?\n\Z")
_NAME = re.compile(rb"(?i)[ \t]*Content-Length[ \t]*:")
_LONGEST_HEADER = 1 << 16

Answer = Callable[[object, int, str], None]
"""Sends an error: the id of the request, None if it has none; the code; the message."""

_SECONDS = 2.0

_WATCHED = "**/*.{yaml,yml,py,sh,toml,txt,lock}"


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


class SpecServer(LanguageServer):
    """A language server with the open documents and the thread that checks them."""

    def __init__(self) -> None:
        super().__init__("smspec", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self.documents = OpenDocuments()
        self.checking = Checking(self.documents.contents, self.documents.uri_of, self._publish_later)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.input: ProtocolInput | None = None
        self.output: BinaryIO | None = None

    def report_server_error(self, error: Exception, source: object) -> None:  # noqa: ARG002
        """Answer a request whose parameters are not those of its method: pygls does not."""
        if source is JsonRpcException and self.input and self.output and self.input.last is not None:
            _answer(self.output, self.input.last, INVALID_PARAMS, "the parameters are not those of the method")

    def begin(self, folders: tuple[str, ...], process: int | None) -> None:
        """Start the checks. Paths in messages are relative to the first folder, as in a terminal there."""
        self._loop = asyncio.get_running_loop()
        if folders and os.path.isdir(folders[0]):
            os.chdir(folders[0])
        self.checking.start(folders)
        if process is not None:
            end_with(process)

    def take(self, uri: str, *, at_once: bool = False) -> None:
        """Keep the current text of a document, and check what depends on it."""
        self.forget_notifications()
        known = self.workspace.get_text_document(uri)
        document = self.documents.put(uri, known.source, known.version)
        if document.path is not None and self._matters(document):
            self.checking.changed(document.path, at_once=at_once)

    def forget_notifications(self) -> None:
        """Drop the finished futures of notifications, which pygls keeps: 1.5 kB for each edit."""
        futures = self.protocol._request_futures
        for identity in [identity for identity, future in futures.items() if future.done()]:
            del futures[identity]

    def _matters(self, document: OpenDocument) -> bool:
        return document.is_spec or (document.path is not None and not document.path.endswith((".yaml", ".yml")))

    def _publish_later(self, changes: Mapping[str, list[types.Diagnostic]]) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._publish, changes)

    def _publish(self, changes: Mapping[str, list[types.Diagnostic]]) -> None:
        for uri, diagnostics in changes.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics))


def serve(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve one editor until it leaves."""
    end_with(None)  # the editor may be gone before it says which process it is
    # pygls prints a traceback for each message that it cannot understand; it is answered instead.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = made_server()
    server.input = ProtocolInput(stdin, lambda *error: _answer(stdout, *error))
    server.output = stdout
    server.start_io(cast(BinaryIO, server.input), stdout)
    return 0


def _answer(stdout: BinaryIO, identity: object, code: int, message: str) -> None:
    """Send an error. One write: the thread that reads must not interrupt an answer of the other one."""
    body = json.dumps({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}).encode()
    stdout.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stdout.flush()


def made_server() -> SpecServer:
    """Return a server with all features."""
    server = SpecServer()
    _follow_documents(server)
    answer_questions(server, server.documents, server.checking)
    return server


def _follow_documents(server: SpecServer) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(ls: SpecServer, _: types.InitializedParams) -> None:
        ls.begin(_folders(ls), ls.process_id)
        _watch_files(ls)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: SpecServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.take(params.text_document.uri, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: SpecServer, params: types.DidChangeTextDocumentParams) -> None:
        ls.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: SpecServer, params: types.DidSaveTextDocumentParams) -> None:
        # Of one that is not open, pygls would read the file, which may have no end.
        if ls.documents.get(params.text_document.uri) is not None:
            ls.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: SpecServer, params: types.DidCloseTextDocumentParams) -> None:
        document = ls.documents.remove(params.text_document.uri)
        if document is not None and document.path is not None:
            ls.checking.changed(document.path)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(ls: SpecServer, params: types.DidChangeWatchedFilesParams) -> None:
        for event in params.changes:
            path = path_of(event.uri)
            if event.type != types.FileChangeType.Changed or (path or "").endswith((".toml", ".lock")):
                ls.checking.everything_changed()
            elif path is not None:
                ls.checking.changed(os.path.realpath(path))


def _folders(ls: SpecServer) -> tuple[str, ...]:
    paths = [path_of(folder.uri) for folder in ls.workspace.folders.values()]
    if not paths and ls.workspace.root_path:
        paths = [ls.workspace.root_path]
    return tuple(os.path.realpath(path) for path in paths if path is not None)


def _watch_files(ls: SpecServer) -> None:
    workspace = ls.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob_pattern=_WATCHED)])
    registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    ls.client_register_capability(types.RegistrationParams([registration]))


def end_with(process: int | None) -> None:
    """Watch the editor's process, and end this one at most a few seconds after it; None: its parent alone counts."""
    threading.Thread(target=_watch, args=(process, os.getppid()), daemon=True).start()


def _watch(process: int | None, parent: int) -> None:
    while os.getppid() == parent and (process is None or _is_running(process)):
        time.sleep(_SECONDS)
    os._exit(0)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to someone else
    return True
