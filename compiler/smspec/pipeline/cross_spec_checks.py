"""Check specs against each other: run the repository rules, apply `checks.ignore`, and locate the findings."""

from __future__ import annotations

from smspec.diagnostics import Diagnostic, Finding
from smspec.diagnostics.diagnostic import placed_at
from smspec.rules.repository import cross_spec_findings
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.rules.suppressions import UNUSED, compares_specs, covers
from smspec.source import Span
from smspec.source.frozen import replace
from smspec.spec.repository_facts import IgnoredFact, RepositoryFacts


def compared(repository: RepositoryFacts, *, is_whole: bool = True) -> tuple[Diagnostic, ...]:
    """Return the conflicts between specs, file by file, without those that each spec involved ignores.

    ``is_whole`` False: other specs are unknown, so unused entries of `checks.ignore` are not reported.
    """
    used: set[Span] = set()
    kept = [reported for reported in cross_spec_findings(repository) if not _is_ignored(reported, used)]
    diagnostics = dict.fromkeys(_diagnostic(reported) for reported in kept)
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
