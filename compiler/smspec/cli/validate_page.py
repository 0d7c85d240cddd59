"""``smspec validate --format html``: a page about all jobs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Diagnostic, count
from smspec.diagnostics.quoting import masked, visible
from smspec.diagnostics.text_format import framed
from smspec.pipeline.validation_result import ValidationResult
from smspec.render.data_flow import data_flow
from smspec.render.pages.repository_page import PageFinding, PageJob, repository_page
from smspec.service.job_costs import cost_line
from smspec.source import SourceText
from smspec.spec.repository_facts import JobFacts

_COST = "cost ceiling: "


def validation_page(result: ValidationResult) -> str:
    """Return the page of a validation."""
    texts = {text.name: text for text in result.texts}
    numbers = {diagnostic: number for number, diagnostic in enumerate(result.diagnostics, 1)}
    facts = [
        ("checked", result.summary().removeprefix("checked ").rpartition(": ")[0]),
        *([("cost ceiling", _ceiling(result))] if result.ceiling() else []),
        *([("images", result.unpinned())] if result.unpinned() else []),
    ]
    findings = [_finding(diagnostic, texts) for diagnostic in result.diagnostics]
    return repository_page(list(_jobs(result, numbers)), findings, data_flow(result.jobs), facts)


def _ceiling(result: ValidationResult) -> str:
    """Return the ceiling of all jobs, and how many it does not count."""
    unknown = sum(spec.cost is None for _, spec in result.checked)
    without = f"; not counted: {count(unknown, 'job')} whose ceiling is unknown" if unknown else ""
    return result.ceiling().partition(": ")[2] + without


def _finding(diagnostic: Diagnostic, texts: dict[str, SourceText]) -> PageFinding:
    spans = [diagnostic.span, *(note.span for note in diagnostic.notes if note.span)]
    needed = {span.file: texts[span.file] for span in spans if span.file in texts}
    _, _, excerpt = framed([diagnostic], needed.values(), brief=()).partition("\n")
    return PageFinding(
        code=diagnostic.code,
        severity=diagnostic.severity,
        message=visible(diagnostic.message),
        place=f"{visible(diagnostic.span.file)}:{diagnostic.span.line}",
        excerpt=excerpt.rstrip("\n"),
    )


def _jobs(result: ValidationResult, numbers: dict[Diagnostic, int]) -> Iterator[PageJob]:
    between: dict[str, list[int]] = {}
    own = {diagnostic for _, spec in result.checked for diagnostic in spec.diagnostics}
    for diagnostic, number in numbers.items():
        if diagnostic not in own:
            between.setdefault(diagnostic.span.file, []).append(number)
    for path, spec in result.checked:
        facts: JobFacts | None = next(iter(spec.facts), None)
        found = [numbers[diagnostic] for diagnostic in spec.diagnostics if diagnostic in numbers]
        yield PageJob(
            name=path if facts is None else masked(facts.name.text),
            file=path if facts is None else facts.file,
            description="" if facts is None else masked(facts.description),
            overlays=tuple(visible(each.overlay) for each in spec.facts if each.overlay is not None),
            hosts="" if facts is None else ", ".join(f"{count} × {kind}" for kind, count in facts.instances),
            cost="" if spec.cost is None else cost_line([spec.cost]).removeprefix(_COST),
            hours=None if spec.cost is None else spec.cost.seconds / 3600,
            usd=None if spec.cost is None else spec.cost.usd,
            findings=tuple(sorted({*found, *between.get(path, ())})),
        )
