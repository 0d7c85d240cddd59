"""Connect the protocol to what answers it: each request of an editor is a function here."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Mapping
from typing import BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from smspec import __version__
from smspec.editor.answers import answer_questions
from smspec.editor.checking import Checking
from smspec.editor.client_process import end_with
from smspec.editor.locations import path_of
from smspec.editor.open_documents import OpenDocument, OpenDocuments
from smspec.editor.protocol_input import INVALID_PARAMS, ProtocolInput

_WATCHED = "**/*.{yaml,yml,py,sh,toml,txt,lock}"


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
