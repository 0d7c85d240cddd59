"""A spec as it is and under each of its overlays, compiled: from the working tree, or from a revision."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from smspec.diagnostics import Diagnostic, Rejected
from smspec.pipeline.compilation import Compilation, Compiled, Faulty, compile_spec
from smspec.pipeline.inputs import REQUIREMENTS, SOURCE, Inputs, gather
from smspec.pipeline.revision import Revision
from smspec.pipeline.shelf import Shelf
from smspec.pipeline.spec_files import read_spec_files
from smspec.source import Document, Scalar, SourceText, Span
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.assembly import merged, overlay_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """``compiled`` by overlay, None being the spec as it is; ``faults`` are those of the others, ``faulty``.

    ``faulty`` is None when the spec cannot even be read. ``overlays`` and ``variables`` are all that the spec has.
    """

    path: str
    compiled: dict[str | None, Compiled]
    faulty: frozenset[str | None] | None
    faults: tuple[Faulty, ...]
    overlays: tuple[str, ...]
    variables: frozenset[str]


def compile_variants(
    path: str, overlay: str | None, settings: Mapping[str, str], shelf: Shelf, revision: Revision | None = None
) -> Variants:
    """Compile a spec under the overlay that is asked for, if it has that, or as it is and under each of its overlays.

    A setting of a variable that the spec does not declare is left out: the other side may declare it. Raises `Misuse`
    when there is no such spec, OSError where the disk refuses.
    """
    try:
        files = read_spec_files(path, shelf)
    except Rejected as rejected:
        return Variants(
            path=path, compiled={}, faulty=None, faults=(_faulty(rejected),), overlays=(), variables=frozenset()
        )
    names = overlay_names(*files)
    variables = frozenset(_variables(files))
    known = {name: value for name, value in settings.items() if name in variables}
    asked = (None, *names) if overlay is None else (overlay,) if overlay in names else ()
    compiled: dict[str | None, Compiled] = {}
    faults: dict[str | None, Faulty] = {}
    for name in asked:
        outcome = _outcome(path, name, known, shelf, files, revision)
        if isinstance(outcome, Compiled):
            compiled[name] = outcome
        else:
            faults[name] = outcome
    return Variants(
        path=path,
        compiled=compiled,
        faulty=frozenset(faults),
        faults=tuple(faults.values()),
        overlays=names,
        variables=variables,
    )


def shown_faults(faulty: Faulty, revision: Revision) -> Faulty:
    """Return faults of a revision under the names that its files have there: ``HEAD:specs/a/job.yaml``."""

    def name(file: str) -> str:
        return f"{revision.name}:{os.path.relpath(os.path.abspath(file), revision.directory)}"

    def span(place: Span) -> Span:
        return replace(place, file=name(place.file))

    def diagnostic(told: Diagnostic) -> Diagnostic:
        notes = tuple(replace(note, span=span(note.span)) if note.span else note for note in told.notes)
        return replace(told, span=span(told.span), notes=notes)

    texts = tuple(SourceText(name(text.name), text.text) for text in faulty.texts)
    return Faulty(diagnostics=tuple(map(diagnostic, faulty.diagnostics)), texts=texts)


def _outcome(
    path: str,
    overlay: str | None,
    settings: Mapping[str, str],
    shelf: Shelf,
    files: tuple[Document, ...],
    revision: Revision | None,
) -> Compilation:
    try:
        if revision is None:
            return compile_spec(gather(path, overlay, settings, shelf))
        _bring(revision, path, merged(files, overlay, settings))
        return compile_spec(_as_checked_out(gather(path, overlay, settings, shelf), revision))
    except Rejected as rejected:
        return _faulty(rejected)


def _bring(revision: Revision, path: str, document: Document) -> None:
    """Bring the files that a spec of a revision names: its source and its requirements."""
    for key in (SOURCE, REQUIREMENTS):
        node = document.node(key)
        if isinstance(node, Scalar) and isinstance(node.value, str) and "\0" not in node.value:
            revision.bring(os.path.join(os.path.dirname(path), node.value))


def _as_checked_out(inputs: Inputs, revision: Revision) -> Inputs:
    ingredients = replace(inputs.ingredients, source=revision.listing(inputs.ingredients.source))
    return replace(inputs, ingredients=ingredients)


def _variables(files: tuple[Document, ...]) -> Iterator[str]:
    for file in files:
        node = file.node(("vars",))
        yield from (key.text for key, _ in node.entries) if isinstance(node, MappingNode) else ()


def _faulty(rejected: Rejected) -> Faulty:
    return Faulty(diagnostics=tuple(rejected.diagnostics), texts=tuple(rejected.texts))
