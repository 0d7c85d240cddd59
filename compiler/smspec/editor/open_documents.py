"""The documents that are open in the editor: their texts take the place of the files on disk."""

from __future__ import annotations

import os

from smspec.editor.locations import path_of, uri_of
from smspec.source.frozen import dataclass
from smspec.workspace.spec_marker import is_meant_as_spec

MOST_BYTES = 1 << 22
"""A larger document is left alone: a spec may have a quarter of that."""

USUAL_NAMES = ("job.yaml", "job.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document as the editor has it. ``path``: its real path; None without a file."""

    uri: str
    path: str | None
    text: str
    version: int | None = None

    @property
    def content(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def is_spec(self) -> bool:
        """Whether it is a spec, or will be one: an empty file with the usual name."""
        if len(self.text) > MOST_BYTES or (self.path is not None and not self.path.endswith((".yaml", ".yml"))):
            return False
        if is_meant_as_spec(self.content):
            return True
        return self.path is not None and os.path.basename(self.path) in USUAL_NAMES

    @property
    def lines(self) -> list[str]:
        return [line.rstrip("\r") for line in self.text.removeprefix("\ufeff").split("\n")]


class OpenDocuments:
    """The open documents, by URI."""

    def __init__(self) -> None:
        self._documents: dict[str, OpenDocument] = {}

    def put(self, uri: str, text: str, version: int | None) -> OpenDocument:
        path = path_of(uri)
        real = None if path is None else os.path.realpath(path)
        document = OpenDocument(uri=uri, path=real, text=text, version=version)
        self._documents[uri] = document
        return document

    def remove(self, uri: str) -> OpenDocument | None:
        return self._documents.pop(uri, None)

    def get(self, uri: str) -> OpenDocument | None:
        return self._documents.get(uri)

    def contents(self) -> dict[str, bytes]:
        """Return the content of each document with a file, by its real path."""
        return {
            document.path: document.content
            for document in self._documents.values()
            if document.path is not None and len(document.text) <= MOST_BYTES
        }

    def specs(self) -> list[OpenDocument]:
        return [document for document in list(self._documents.values()) if document.is_spec]

    def uri_of(self, path: str) -> str:
        """Return the URI under which the editor has a file open, else one made of its path."""
        real = os.path.realpath(path)
        return next((one.uri for one in list(self._documents.values()) if one.path == real), uri_of(path))
