"""What `--fail-on` fails, and what was not compared, as annotations of GitHub at the lines of the working tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics.finding import Severity
from smspec.diagnostics.formats import counted_commands, workflow_command
from smspec.diagnostics.visible import visible
from smspec.review.comparison import Comparison
from smspec.review.fail_on import Failure

_SEVERITY: Severity = "error"


def workflow_annotations(comparison: Comparison, failures: Iterable[Failure], base: str | None) -> str:
    """Return one workflow command per line; files of the revision ``base`` cannot be annotated."""
    return counted_commands([(_SEVERITY, command) for command in _commands(comparison, failures, base)])


def _commands(comparison: Comparison, failures: Iterable[Failure], base: str | None) -> Iterator[str]:
    for failure in failures:
        change, review = failure.first.change, failure.review
        place = _place(change.file, change.line, base) or _place(review.file, None, base)
        message = f"{visible(review.name)}: {failure.message()}"
        yield workflow_command(_SEVERITY, place, f"smspec diff --fail-on {failure.gate}", message)
    for job in comparison.uncompared:
        for reason in job.reasons:
            span = reason.first.span
            place = _place(span.file, span.line, base) or _place(job.file, None, base)
            message = f"{visible(job.name or job.file)} is not compared: {visible(reason.first.message)}"
            yield workflow_command(_SEVERITY, place, f"smspec diff {reason.first.code}", message)


def _place(file: str | None, line: int | None, base: str | None) -> dict[str, object]:
    if not file or (base is not None and file.startswith(f"{base}:")):
        return {}
    return {"file": file, **({"line": line} if line else {})}
