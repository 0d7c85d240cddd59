"""The part of a validation result that is about some of the specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from smspec.diagnostics import Diagnostic
from smspec.pipeline.spec_check import CheckedSpec
from smspec.pipeline.validation_result import ValidationResult
from smspec.source.frozen import replace


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
