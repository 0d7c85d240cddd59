"""A job spec and the bases it extends, read from disk: the files, in the order in which they are applied."""

from __future__ import annotations

import os

from smspec.diagnostics import Diagnostic, Finding, Rejected, Rule, placed
from smspec.pipeline.absence import is_file, means_absence
from smspec.source import Document, SourceText, Span
from smspec.spec.layers.assembly import Misuse, extends_of
from smspec.spec.yaml.guard import MAX_BYTES
from smspec.spec.yaml.reading import decode_bytes, read

BASE_NOT_FOUND = Rule("SM140", "base that cannot be found")
BASE_IN_A_CIRCLE = Rule("SM141", "base that extends the file that extends it")
TOO_MANY_BASES = Rule("SM142", "more bases than can be followed")

MOST_BASES = 16


def read_spec_files(path: str, known: dict[str, Document] | None = None) -> tuple[Document, ...]:
    """Read the spec at ``path`` and every base it extends; bases first, the spec itself last.

    A base that is reached twice is applied once, where it is reached first. Files in ``known`` (by real path) are not
    read again; what is read is added to it. Raises `Misuse` when there is no such
    spec, `Rejected` when a text cannot be read as YAML or a base is missing, and OSError when the disk refuses.
    """
    chain = _Chain(known if known is not None else {})
    chain.add(chain.read(path), os.path.realpath(path), trail=())
    if chain.diagnostics:
        raise Rejected(chain.diagnostics, chain.texts)
    return tuple(chain.files.values())


def read_spec_file(path: str) -> Document:
    """Read one file, whatever it extends. Raises as `read_spec_files` does."""
    try:
        return read(decode_bytes(path, _content(path)))
    except IsADirectoryError:
        raise Misuse(f"`{path}` is a directory, not a job spec") from None
    except OSError as fault:
        if means_absence(fault):
            raise Misuse(f"there is no `{path}`") from None
        fault.filename = fault.filename or path
        raise


class _Chain:
    """The files found so far, by real path, and what is wrong with the way they hang together."""

    def __init__(self, known: dict[str, Document]) -> None:
        self._known = known
        self.files: dict[str, Document] = {}
        self.diagnostics: list[Diagnostic] = []
        self.texts: list[SourceText] = []

    def add(self, document: Document, identity: str, trail: tuple[str, ...]) -> None:
        """Add ``document`` after everything it extends. ``trail`` leads to it."""
        name = document.texts[0].name
        trail = (*trail, identity)
        for place, (written, _) in enumerate(self._extended(document)):
            path = os.path.normpath(os.path.join(os.path.dirname(name), written))
            objection = self._objection(path, trail)
            if objection is not None:
                self.diagnostics += placed([objection.moved(("extends", place))], document)
                self.texts += document.texts
            else:
                self._follow(path, trail)
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

    def read(self, path: str) -> Document:
        identity = os.path.realpath(path)
        if identity not in self._known:
            self._known[identity] = read_spec_file(path)
        return self._known[identity]

    def _objection(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        # Only the command line may name something else than a file: reading a device or a pipe could take forever.
        if not is_file(path):
            help = "the path is relative to the directory of the file that writes it"
            return BASE_NOT_FOUND.at((), f"there is no file `{path}`", help=help)
        if os.path.realpath(path) in trail:
            return BASE_IN_A_CIRCLE.at((), f"`{path}` extends this file", help="take one of the two out")
        if len(self.files) + len(trail) > MOST_BASES:
            return TOO_MANY_BASES.at(
                (), f"a spec may extend {MOST_BASES} files, this is one more", help="merge some of them"
            )
        return None

    def _follow(self, path: str, trail: tuple[str, ...]) -> None:
        identity = os.path.realpath(path)
        if identity in self.files:
            return
        try:
            document = self.read(path)
        except Rejected as rejected:
            self._note(rejected)
            return
        self.add(document, identity, trail)


def _content(path: str) -> bytes:
    """Return what is in the file, but no more than one byte above what a spec may have."""
    with open(path, "rb", buffering=0) as file:
        chunks, room = [], MAX_BYTES + 1
        while room > 0 and (chunk := file.read(room)):
            chunks.append(chunk)
            room -= len(chunk)
    return b"".join(chunks)
