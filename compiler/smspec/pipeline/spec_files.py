"""A job spec and the bases it extends, read from disk: the files, in the order in which they are applied."""

from __future__ import annotations

import os

from smspec.diagnostics import Diagnostic, Finding, Rejected, Rule, placed
from smspec.pipeline.absence import told_of
from smspec.pipeline.boundary import Boundary, NotASpec, NotRead
from smspec.pipeline.outside import not_a_spec, outside
from smspec.pipeline.shelf import Shelf
from smspec.source import Document, SourceText, Span
from smspec.spec.layers.assembly import extends_of

BASE_NOT_FOUND = Rule("SM140", "base that cannot be found")
BASE_IN_A_CIRCLE = Rule("SM141", "base that extends the file that extends it")
TOO_MANY_BASES = Rule("SM142", "more bases than can be followed")

MOST_BASES = 16


def read_spec_files(path: str, shelf: Shelf) -> tuple[Document, ...]:
    """Read the spec at ``path`` and every base it extends; bases first, the spec itself last.

    A base that is reached twice is applied once, where it is reached first. Raises `Misuse` when there is no such
    spec, `Rejected` when a text cannot be read as YAML or a base is missing, and OSError when the disk refuses.
    """
    chain = _Chain(shelf, shelf.boundary(os.path.dirname(path)))
    chain.add(shelf.spec(path), shelf.identity(path), trail=())
    if chain.diagnostics:
        raise Rejected(chain.diagnostics, chain.texts)
    return tuple(chain.files.values())


class _Chain:
    """The files found so far, by real path, and what is wrong with the way they hang together."""

    def __init__(self, shelf: Shelf, boundary: Boundary) -> None:
        self._shelf = shelf
        self._boundary = boundary
        self.files: dict[str, Document] = {}
        self.diagnostics: list[Diagnostic] = []
        self.texts: list[SourceText] = []

    def add(self, document: Document, identity: str, trail: tuple[str, ...]) -> None:
        """Add ``document`` after everything it extends. ``trail`` leads to it."""
        name = document.texts[0].name
        trail = (*trail, identity)
        for place, (written, _) in enumerate(self._extended(document)):
            path = os.path.normpath(os.path.join(os.path.dirname(name), written))
            objection = self._objection(path, trail) or self._follow(path, trail)
            if objection is not None:
                self.diagnostics += placed([objection.moved(("extends", place))], document)
                self.texts += document.texts
        self.files[identity] = document

    def _extended(self, document: Document) -> tuple[tuple[str, Span], ...]:
        try:
            return extends_of(document)
        except Rejected as rejected:
            self._note(rejected)
            return ()

    def _note(self, rejected: Rejected) -> None:
        self.diagnostics += rejected.diagnostics
        self.texts += rejected.texts

    def _objection(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        if not self._boundary.contains(path):
            return outside((), path, path, self._boundary)
        # Only the command line may name something else than a file: reading a device or a pipe could take forever.
        if not self._boundary.is_file(path):
            help = "the path is relative to the directory of the file that writes it"
            return BASE_NOT_FOUND.at((), told_of(path, path, "file"), help=help)
        if self._shelf.identity(path) in trail:
            return BASE_IN_A_CIRCLE.at((), f"`{path}` extends this file", help="take one of the two out")
        if len(self.files) + len(trail) > MOST_BASES:
            return TOO_MANY_BASES.at(
                (), f"a spec may extend {MOST_BASES} files, this is one more", help="merge some of them"
            )
        return None

    def _follow(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        identity = self._shelf.identity(path)
        if identity in self.files:
            return None
        try:
            document = self._shelf.base(path, self._boundary)
        except Rejected as rejected:
            self._note(rejected)
        except NotASpec:
            return not_a_spec((), path)
        except NotRead:  # it was exchanged since it was looked at
            return outside((), path, path, self._boundary)
        else:
            self.add(document, identity, trail)
        return None
