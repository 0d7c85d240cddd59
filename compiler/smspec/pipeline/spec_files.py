"""Read a job spec and the base specs it extends: the files, in the order in which they are applied."""

from __future__ import annotations

import os

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Rule, placed
from smspec.diagnostics.quoting import quoted
from smspec.pipeline.input_cache import InputCache
from smspec.source import Document, Path, SourceText, Span
from smspec.source.frozen import dataclass
from smspec.spec.layers.assembly import extends_of
from smspec.workspace.boundary import Boundary, FileNotRead, NotASpec, not_a_spec, outside
from smspec.workspace.path_targets import not_found

BASE_NOT_FOUND = Rule("SM140", "base spec not found")
BASE_IN_A_CIRCLE = Rule("SM141", "circular extends")
TOO_MANY_BASES = Rule("SM142", "too many base specs")
UNREAD_BASE = Rule("SM147", "job without a base spec", "note")

MOST_BASES = 16
_MOST_FAULTS = 200
"""After this many, do not search for more base specs: a hostile file could name tens of thousands of missing ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFiles:
    """``documents``: base specs first, the job's own file last. With ``faults`` some base specs are missing.

    ``texts`` are all that were read, also those of files that are not YAML.
    """

    documents: tuple[Document, ...]
    faults: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]


def read_spec_files(path: str, cache: InputCache) -> SpecFiles:
    """Read the spec at ``path`` and every base spec it extends.

    A base spec that is reached twice is applied once, where it is reached first. Raise `OptionError` if there is no
    such spec, `InvalidInput` if it cannot be parsed as YAML, and OSError if the disk fails.
    """
    chain = _Chain(cache, cache.boundary(os.path.dirname(path)))
    chain.add(cache.spec(path), cache.identity(path), trail=())
    documents = tuple(chain.files.values())
    texts = dict.fromkeys((*documents[-1].texts, *(text for file in documents for text in file.texts), *chain.texts))
    return SpecFiles(documents=documents, faults=tuple(chain.diagnostics), texts=tuple(texts))


class _Chain:
    """The files found so far, by real path, and the errors in their `extends`."""

    def __init__(self, cache: InputCache, boundary: Boundary) -> None:
        self._cache = cache
        self._boundary = boundary
        self.files: dict[str, Document] = {}
        self.diagnostics: list[Diagnostic] = []
        self.texts: list[SourceText] = []

    def add(self, document: Document, identity: str, trail: tuple[str, ...]) -> None:
        """Add ``document`` after everything it extends. ``trail`` is the chain of files that extends it."""
        name = document.texts[0].name
        is_job = not trail
        trail = (*trail, identity)
        for place, (written, _) in enumerate(self._extended(document, is_job=is_job)):
            before = len(self.diagnostics)
            if before > _MOST_FAULTS:
                break
            path = os.path.normpath(os.path.join(os.path.dirname(name), written))
            objection = self._objection(path, trail) or self._follow(path, trail)
            if objection is not None:
                self.diagnostics += placed([objection.moved(("extends", place))], document)
                self.texts += document.texts
            if is_job and len(self.diagnostics) > before:
                self.diagnostics += placed([_unread(("extends", place), f"the base spec {quoted(written)}")], document)
        self.files[identity] = document

    def _extended(self, document: Document, *, is_job: bool) -> tuple[tuple[str, Span], ...]:
        try:
            return extends_of(document)
        except InvalidInput as rejected:
            self._note(rejected)
            if is_job:
                self.diagnostics += placed([_unread(("extends",), "`extends`")], document)
            return ()

    def _note(self, rejected: InvalidInput) -> None:
        self.diagnostics += rejected.diagnostics
        self.texts += rejected.texts

    def _objection(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        self._cache.bring(path)
        # Only the command line may name something other than a file: reading a device or a pipe could block forever.
        if not self._boundary.is_file(path):
            if not self._boundary.contains(path):
                return outside((), path, path, self._boundary)
            help = "fix the path; it is relative to the directory of this file"
            return BASE_NOT_FOUND.at((), not_found(path, path, "file"), help=help)
        if self._cache.identity(path) in trail:
            return BASE_IN_A_CIRCLE.at(
                (), f"circular `extends`: `{path}` extends this file", help="remove one of the two `extends` entries"
            )
        if len(self.files) + len(trail) > MOST_BASES:
            return TOO_MANY_BASES.at(
                (), f"`extends` reaches more than {MOST_BASES} base specs", help="merge some of them into one file"
            )
        return None

    def _follow(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        identity = self._cache.identity(path)
        if identity in self.files:
            return None
        try:
            document = self._cache.base(path, self._boundary)
        except InvalidInput as rejected:
            self._note(rejected)
        except NotASpec:
            return not_a_spec((), path)
        except FileNotRead:  # it was replaced after the first check
            return outside((), path, path, self._boundary)
        else:
            self.add(document, identity, trail)
        return None


def _unread(at: Path, what: str) -> Finding:
    message = f"only the keys of this file were checked: {what} has errors"
    return UNREAD_BASE.at(at, message, help="fix those errors to check the whole job")
