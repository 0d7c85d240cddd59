"""A session of an editor with `smspec lsp` over stdin and stdout."""

import asyncio
import os
import sys

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from support.smspec_command import environment

SECONDS = 30


class Session:
    """The requests of an editor in a directory, each with a deadline."""

    def __init__(self, root):
        self.root = root
        self.client = LanguageClient("tests", "1")
        self.published = {}
        self.versions = {}
        self._arrived = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.published[params.uri] = params.diagnostics
            self._arrived.set()

    async def start(self, snippets=True):
        words = ["-m", "smspec", "lsp"]
        env = environment()
        await self.client.start_io(sys.executable, *words, cwd=self.root, env=env)
        item = types.ClientCompletionItemOptions(snippet_support=snippets)
        completion = types.CompletionClientCapabilities(completion_item=item)
        capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(completion=completion)
        )
        folder = types.WorkspaceFolder(uri=self.uri("."), name="root")
        params = types.InitializeParams(
            capabilities=capabilities, process_id=os.getpid(), root_uri=folder.uri, workspace_folders=[folder]
        )
        self.answer = await self.wait(self.client.initialize_async(params))
        self.client.initialized(types.InitializedParams())
        return self

    async def stop(self):
        await self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        await self.wait(self.client.stop())

    def wait(self, coroutine):
        return asyncio.wait_for(coroutine, SECONDS)

    def uri(self, name):
        return (self.root / name).resolve().as_uri()

    def open(self, name, text=None, uri=None):
        uri = uri or self.uri(name)
        self.versions[uri] = 1
        text = (self.root / name).read_text() if text is None else text
        item = types.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri, text):
        self.versions[uri] += 1
        whole = types.TextDocumentContentChangeWholeDocument(text=text)
        document = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def codes(self, uri):
        return [diagnostic.code for diagnostic in self.published.get(uri, ())]

    async def until(self, holds):
        """Wait until a claim about what was published holds."""

        async def waiting():
            while not holds():
                self._arrived.clear()
                await self._arrived.wait()

        await self.wait(waiting())
