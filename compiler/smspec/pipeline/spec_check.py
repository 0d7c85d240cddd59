"""Check specs: each on its own and with each of its overlays, and all of them against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Note
from smspec.diagnostics.diagnostic import placed_at
from smspec.diagnostics.quoting import quoted
from smspec.pipeline.compilation import Compilation, Compiled, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import gather, gather_all
from smspec.rules import suppressions
from smspec.rules.suppressions import UNUSED, compares_specs, covers
from smspec.service.job_costs import JobCost
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass, replace
from smspec.spec.repository_facts import IgnoredFact, JobFacts, RepositoryFacts

if TYPE_CHECKING:
    from smspec.rules.repository.cross_spec_finding import CrossSpecFinding

MOST_NAMED = 3
"""How many overlays a diagnostic lists."""

_NOT_THERE = frozenset({"SM502", "SM506", "SM508"})
"""Something that the script requires and the job lacks: not reported again where an overlay writes the same key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSpec:
    """``diagnostics`` in the order of the files, without duplicates; ``texts`` are those that they point into.

    ``facts``: of the spec on its own and with each overlay, where it has the shape of a job. ``files`` are all files of
    the spec. ``cost``: what a job of the spec can cost at most; None for a spec with errors.
    """

    overlays: int
    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    facts: tuple[JobFacts, ...]
    files: frozenset[str]
    cost: JobCost | None = None


def check_spec(path: str, overlay: str | None, settings: Mapping[str, str], cache: InputCache) -> CheckedSpec:
    """Check the spec at ``path`` with the requested overlay, or on its own and with each of its overlays.

    Raise `OptionError` for an overlay or a setting that does not exist, OSError if the disk fails.
    """
    try:
        if overlay is not None:
            return checked([(None, compile_spec(gather(path, overlay, settings, cache)))])
        gathered = gather_all(path, settings, cache)
        return checked((name, i if isinstance(i, InvalidInput) else compile_spec(i)) for name, i in gathered)
    except InvalidInput as rejected:
        return checked([(None, rejected)])


def checked(outcomes: Iterable[tuple[str | None, Compilation | InvalidInput]]) -> CheckedSpec:
    """Return the result for a spec from its results on its own (None) and with each of its overlays."""
    variants = 0
    overlays = 0
    texts: dict[str, SourceText] = {}
    found: dict[Diagnostic, list[str | None]] = {}
    facts: list[JobFacts] = []
    cost = None
    for overlay, outcome in outcomes:
        variants += 1
        overlays += overlay is not None
        for text in outcome.texts:
            texts.setdefault(text.name, text)
        for diagnostic in outcome.diagnostics:
            found.setdefault(diagnostic, []).append(overlay)
        if not isinstance(outcome, InvalidInput) and outcome.facts:
            facts.append(outcome.facts)
        if variants == 1 and isinstance(outcome, Compiled):
            cost = outcome.cost
    missing_anyway = {_fault(d) for d, among in found.items() if d.code in _NOT_THERE and None in among}
    order = {name: position for position, name in enumerate(texts)}
    reported = [
        _under(diagnostic, among)
        for diagnostic, among in found.items()
        # A check may be ignored because of one overlay: an entry is unused only if it is unused with all of them.
        if diagnostic.code != suppressions.UNUSED.code or len(among) == variants
        if None in among or _fault(diagnostic) not in missing_anyway
    ]
    reported.sort(key=lambda d: (order.get(d.span.file, len(order)), d.span.line, d.span.column, d.code))
    return CheckedSpec(
        overlays=overlays,
        diagnostics=tuple(reported),
        texts=tuple(texts[name] for name in _files(reported) if name in texts),
        facts=tuple(facts),
        files=frozenset(order),
        cost=cost,
    )


def _files(diagnostics: Iterable[Diagnostic]) -> dict[str, None]:
    """Return the files that diagnostics and their notes point into, without duplicates."""
    spans = (span for d in diagnostics for span in (d.span, *(note.span for note in d.notes)))
    return dict.fromkeys(span.file for span in spans if span)


def _fault(diagnostic: Diagnostic) -> tuple[object, ...]:
    """Return what identifies an error, whatever its position."""
    return diagnostic.code, diagnostic.message, diagnostic.notes


def _under(diagnostic: Diagnostic, overlays: list[str | None]) -> Diagnostic:
    names = [quoted(name) for name in overlays if name is not None]
    if len(names) < len(overlays):
        return diagnostic
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    word = "overlay" if len(names) == 1 else "overlays"
    note = Note(f"with the {word} {', '.join(names[:MOST_NAMED])}{more}")
    return replace(diagnostic, notes=(*diagnostic.notes, note))


def compared(repository: RepositoryFacts, *, is_whole: bool = True) -> tuple[Diagnostic, ...]:
    """Return the conflicts between specs, file by file, without those that each spec involved ignores.

    ``is_whole`` False: other specs are unknown, so unused entries of `checks.ignore` are not reported.
    """
    used: set[Span] = set()
    diagnostics: dict[Diagnostic, None] = {}
    if repository.unused_bases or len({job.file for job in repository.jobs}) > 1:
        # Imported late: one spec is the usual case.
        from smspec.rules.repository import cross_spec_findings

        kept = [reported for reported in cross_spec_findings(repository) if not _is_ignored(reported, used)]
        diagnostics.update(dict.fromkeys(map(_diagnostic, kept)))
    if is_whole:
        diagnostics.update(dict.fromkeys(_unused_entries(repository, used)))
    return tuple(sorted(diagnostics, key=lambda d: (d.span.file, d.span.line, d.span.column, d.code)))


def _is_ignored(reported: CrossSpecFinding, used: set[Span]) -> bool:
    """Return whether every spec of a finding ignores it; record the entries that do."""
    hits = [
        [ignored.span for ignored in spec.ignored if covers(ignored.rule, ignored.at, reported.finding)]
        for spec in reported.specs
    ]
    used.update(span for spans in hits for span in spans)
    return all(hits)


def _diagnostic(reported: CrossSpecFinding) -> Diagnostic:
    return placed_at(reported.span, replace(reported.finding, notes=reported.notes))


def _unused_entries(repository: RepositoryFacts, used: set[Span]) -> list[Diagnostic]:
    entries: dict[Span, IgnoredFact] = {}
    for ignored in (*(job.ignored for job in repository.jobs), *(base.ignored for base in repository.unused_bases)):
        entries.update({entry.span: entry for entry in ignored if compares_specs(entry.rule)})
    return [placed_at(span, _unused(entry)) for span, entry in entries.items() if span not in used]


def _unused(entry: IgnoredFact) -> Finding:
    where = f" at `{entry.at}`" if entry.at else ""
    message = f"`checks.ignore` matches nothing: no {entry.rule}{where}"
    return UNUSED.at(("checks", "ignore", entry.index), message, help="remove the entry")
