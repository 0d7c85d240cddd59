"""Check specs: each on its own and with each of its overlays, and all of them against each other.

The result has the diagnostics without duplicates: spec by spec, then the conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Note, count, counted, placed_at
from smspec.diagnostics.quoting import quoted, visible
from smspec.pipeline.compilation import Compilation, Compiled, compile_spec
from smspec.pipeline.input_cache import InputCache, named_rule_files
from smspec.pipeline.inputs import gather, gather_all
from smspec.pipeline.planned_jobs import base_facts
from smspec.pipeline.spec_discovery import (
    Candidates,
    DiscoveredSpecs,
    Outline,
    find_candidates,
    is_job,
    job_specs,
    outline,
)
from smspec.service.job_costs import JobCost, cost_line
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.variables import OptionError
from smspec.spec.repository_facts import IgnoredFact, JobFacts, RepositoryFacts
from smspec.spec.shape import NULL_THAT_REMOVES_NOTHING
from smspec.workspace.boundary import unread_link

if TYPE_CHECKING:
    from smspec.rules.repository.cross_spec_finding import CrossSpecFinding


MOST_NAMED = 3
"""How many overlays a diagnostic lists."""

_UNUSED_ENTRY = "SM331"

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
            return check_of_variants([(None, compile_spec(gather(path, overlay, settings, cache)))])
        gathered = gather_all(path, settings, cache)
        return check_of_variants((name, i if isinstance(i, InvalidInput) else compile_spec(i)) for name, i in gathered)
    except InvalidInput as rejected:
        return check_of_variants([(None, rejected)])


def check_of_variants(outcomes: Iterable[tuple[str | None, Compilation | InvalidInput]]) -> CheckedSpec:
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
        if diagnostic.code != _UNUSED_ENTRY or len(among) == variants
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
    if repository.unused_bases or len(repository.jobs) > 1:
        # Imported late: one spec is the usual case.
        from smspec.rules.repository import cross_spec_findings

        kept = [reported for reported in cross_spec_findings(repository) if not _is_ignored(reported, used)]
        diagnostics.update(dict.fromkeys(placed_at(one.span, replace(one.finding, notes=one.notes)) for one in kept))
    if is_whole:
        diagnostics.update(dict.fromkeys(_unused_entries(repository, used)))
    return tuple(sorted(diagnostics, key=lambda d: (d.span.file, d.span.line, d.span.column, d.code)))


def _is_ignored(reported: CrossSpecFinding, used: set[Span]) -> bool:
    """Return whether every spec of a finding ignores it; record the entries that do."""
    # Imported late: few specs conflict.
    from smspec.rules.suppressions import covers

    hits = [
        [ignored.span for ignored in spec.ignored if covers(ignored.rule, ignored.at, reported.finding)]
        for spec in reported.specs
    ]
    used.update(span for spans in hits for span in spans)
    return all(hits)


def _unused_entries(repository: RepositoryFacts, used: set[Span]) -> list[Diagnostic]:
    entries: dict[Span, IgnoredFact] = {}
    for ignored in (*(job.ignored for job in repository.jobs), *(base.ignored for base in repository.unused_bases)):
        if ignored:
            # Imported late: most specs ignore nothing.
            from smspec.rules.suppressions import compares_specs

            entries.update({entry.span: entry for entry in ignored if compares_specs(entry.rule)})
    return [placed_at(span, _unused(entry)) for span, entry in entries.items() if span not in used]


def _unused(entry: IgnoredFact) -> Finding:
    from smspec.rules.suppressions import UNUSED

    where = f" at `{entry.at}`" if entry.at else ""
    message = f"`checks.ignore` matches nothing: no {entry.rule}{where}"
    return UNUSED.at(("checks", "ignore", entry.index), message, help="remove the entry")


_NOT_IN_THE_LOCK = "SM720"
_LOOSE = "SM721"
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """``texts`` are those that the diagnostics point into. ``jobs``: the facts that specs are compared by.

    ``costs``: what each job without errors can cost. ``checked``: the path of each spec, and what its check found.
    ``extended``: those that others extend, and that are jobs without errors; they are in no other part of the result.
    ``rule_files``: how many of the paths are rules of an organization.
    """

    specs: int
    overlays: int
    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    jobs: tuple[JobFacts, ...]
    costs: tuple[JobCost, ...] = ()
    checked: tuple[tuple[str, CheckedSpec], ...] = ()
    extended: tuple[tuple[str, CheckedSpec], ...] = ()
    rule_files: int = 0

    def summary(self) -> str:
        """Return a one-line summary of the checked specs and the findings."""
        if not self.specs and not self.rule_files:
            return "no jobs found: a file without `name` is a base spec, checked through the jobs that extend it"
        counts = ((self.specs, "job"), (self.overlays, "overlay"), (self.rule_files, "rule file"))
        checked = " and ".join(count(number, noun) for number, noun in counts if number)
        return f"checked {checked}: {counted(self.diagnostics) or 'no problems found'}"

    def lines(self) -> Iterator[str]:
        """Yield a line for each spec: its path, its number of overlays, what was found, and what its job can cost."""
        for path, spec in self.checked:
            overlays = f" and {count(spec.overlays, 'overlay')}" if spec.overlays else ""
            cost = "" if spec.cost is None else f"; {cost_line([spec.cost])}"
            yield f"checked {visible(path)}{overlays}: {counted(spec.diagnostics) or 'no problems found'}{cost}"

    def ceiling(self) -> str:
        """Return a one-line summary of what the jobs without errors can cost; empty if there are none."""
        return cost_line(self.costs)

    def unpinned(self) -> str:
        """Return a one-line summary of unpinned base images and packages; empty if findings say so, with a lock."""
        codes = {diagnostic.code for diagnostic in self.diagnostics}
        bases = sorted({job.unpinned for job in self.jobs if job.unpinned})
        loose = {
            package for job in self.jobs for package in job.loose if _LOOSE not in {one.rule for one in job.ignored}
        }
        bases = [] if _NOT_IN_THE_LOCK in codes else bases
        loose = set() if _LOOSE in codes else loose
        if not bases and not loose:
            return ""
        more = f" and {len(bases) - _MOST_NAMED} more" if len(bases) > _MOST_NAMED else ""
        named = ", ".join(f"`{base}`" for base in bases[:_MOST_NAMED])
        images = [f"base image{'s' if len(bases) > 1 else ''} {named}{more}"] if bases else []
        subject = " and ".join([*images, *([count(len(loose), "package")] if loose else [])])
        return f"{subject} {'is' if len(bases) + len(loose) == 1 else 'are'} not pinned; run `smspec lock`"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Examined:
    """A file that may be a job spec. ``checked`` None: it is no job, or the check could not be completed."""

    outline: Outline | None
    checked: CheckedSpec | None


def validate_specs(
    paths: Iterable[str], overlay: str | None, settings: Mapping[str, str], cache: InputCache
) -> ValidationResult:
    """Check every job spec for ``paths``, with ``overlay`` or with each of its own, and all of them against each other.

    Raise `OptionError` for a path that does not exist, for an overlay or a setting that a spec does not have, and for
    paths without a job; OSError if the disk fails.
    """
    candidates = find_candidates(paths, cache)
    others = [
        path for at, path in candidates.found.items() if at in candidates.named and not cache.is_meant_as_spec(path)
    ]
    if others:
        rules = named_rule_files(others, cache)
        specs = {at: path for at, path in candidates.found.items() if path not in rules.paths}
        result = _validated(replace(candidates, found=specs), overlay, settings, cache)
        texts = {text.name: text for text in (*result.texts, *rules.texts)}
        diagnostics = tuple(dict.fromkeys((*rules.diagnostics, *result.diagnostics)))
        return replace(result, diagnostics=diagnostics, texts=tuple(texts.values()), rule_files=len(rules.paths))
    return _validated(candidates, overlay, settings, cache)


def _validated(
    candidates: Candidates, overlay: str | None, settings: Mapping[str, str], cache: InputCache
) -> ValidationResult:
    ahead = [(path, identity in candidates.named) for identity, path in candidates.found.items()]

    def examine(number: int) -> _Examined:
        path, is_named = ahead[number]
        of_it = outline(path, cache)
        is_due = of_it is None or is_job(of_it, cache, is_named=is_named)
        return _Examined(outline=of_it, checked=_checked(path, overlay, settings, cache) if is_due else None)

    # A file is parsed once, and by the process that checks it. Those that turn out to be base specs of others are rare.
    if len(ahead) == 1:
        examined = [examine(0)]
    else:
        # Imported late: one spec is the usual case.
        from smspec.pipeline.parallel_map import parallel_map

        examined = list(parallel_map(len(ahead), examine, is_typical=lambda made: made.checked is not None))
    found = job_specs(candidates, [one.outline for one in examined], cache)
    known = {path: one.checked for (path, _), one in zip(ahead, examined, strict=True)}
    checked = [known[path] or check_spec(path, overlay, settings, cache) for path in found.jobs]
    extended = ((path, spec) for path in found.extended if (spec := known[path]) is not None and spec.cost is not None)
    return replace(whole_result(found, checked, cache), extended=tuple(extended))


def _checked(path: str, overlay: str | None, settings: Mapping[str, str], cache: InputCache) -> CheckedSpec | None:
    """Check a spec. None for what is repeated, and raised, when it is known to be a job."""
    try:
        return check_spec(path, overlay, settings, cache)
    except (OptionError, OSError):
        return None


def whole_result(found: DiscoveredSpecs, checked: list[CheckedSpec], cache: InputCache) -> ValidationResult:
    """Return the result for specs that were checked one by one, in their order, with the conflicts between them."""
    jobs = tuple(facts for spec in checked for facts in spec.facts)
    reported = dict.fromkeys(d for spec in checked for d in spec.diagnostics if not _serves_another(d, checked))
    texts = {text.name: text for spec in checked for text in spec.texts}
    reported.update(dict.fromkeys(map(unread_link, found.outside)))
    if found.is_repository or len(jobs) > 1:
        bases = tuple(base_facts(cache.spec(path)) for path in found.unused_bases)
        between = compared(RepositoryFacts(jobs=jobs, unused_bases=bases), is_whole=found.is_repository)
        reported.update(dict.fromkeys(between))
        texts.update((text.name, text) for text in map(cache.text, _files(between)))
    return ValidationResult(
        specs=len(checked),
        overlays=sum(spec.overlays for spec in checked),
        costs=tuple(spec.cost for spec in checked if spec.cost is not None),
        diagnostics=tuple(reported),
        texts=tuple(texts.values()),
        jobs=jobs,
        checked=tuple(zip(found.jobs, checked, strict=True)),
    )


def _serves_another(diagnostic: Diagnostic, checked: Iterable[CheckedSpec]) -> bool:
    """Return whether a null of a shared base spec removes something in a different job that extends it."""
    if diagnostic.code != NULL_THAT_REMOVES_NOTHING.code:
        return False
    return any(diagnostic.span.file in spec.files and diagnostic not in spec.diagnostics for spec in checked)


def narrowed_result(
    result: ValidationResult, specs: Iterable[str], is_changed: Callable[[str], bool]
) -> ValidationResult:
    """Return the result for some of the specs that were checked, with the conflicts between them and any other.

    ``is_changed``: whether a file counts that is not part of a job, such as an unused base spec.
    """
    kept = set(specs)
    checked = tuple((path, spec) for path, spec in result.checked if path in kept)
    own = {diagnostic for _, spec in checked for diagnostic in spec.diagnostics}
    of_any = {diagnostic for _, spec in result.checked for diagnostic in spec.diagnostics}
    files = {file for _, spec in checked for file in spec.files}

    def concerns(diagnostic: Diagnostic) -> bool:
        spans = [diagnostic.span, *(note.span for note in diagnostic.notes if note.span)]
        return any(span.file in files or is_changed(span.file) for span in spans)

    return replace(
        result,
        specs=len(checked),
        overlays=sum(spec.overlays for _, spec in checked),
        costs=tuple(spec.cost for _, spec in checked if spec.cost is not None),
        diagnostics=tuple(d for d in result.diagnostics if d in own or (d not in of_any and concerns(d))),
        jobs=tuple(facts for _, spec in checked for facts in spec.facts),
        checked=checked,
    )


def with_specs(result: ValidationResult, more: Sequence[tuple[str, CheckedSpec]]) -> ValidationResult:
    """Return the result with specs that no search lists: they are not compared with others, which they may repeat."""
    texts = {text.name: text for texts in (result.texts, *(spec.texts for _, spec in more)) for text in texts}
    return replace(
        result,
        specs=result.specs + len(more),
        overlays=result.overlays + sum(spec.overlays for _, spec in more),
        costs=(*result.costs, *(spec.cost for _, spec in more if spec.cost is not None)),
        diagnostics=tuple(dict.fromkeys((*result.diagnostics, *(d for _, spec in more for d in spec.diagnostics)))),
        texts=tuple(texts.values()),
        jobs=(*result.jobs, *(facts for _, spec in more for facts in spec.facts)),
        checked=(*result.checked, *more),
    )
