"""What programs get of a review: the changes that fail a check, ``--fail-on security,cost>20%``, and JSON.

Annotations of GitHub, at the lines of the working tree, also name what was not compared. The shape of the JSON, a list
of jobs, each with its changes, is documented in docs/diff.md. It stays a list, because scripts read it: equal changes
share a number in `group` instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from smspec.diagnostics import Severity
from smspec.diagnostics.formats import counted_commands, workflow_command
from smspec.diagnostics.quoting import visible
from smspec.diagnostics.suggestions import did_you_mean
from smspec.review.change import Change, ReportedChange, has_values, quoted, shown_values, under
from smspec.review.change_groups import Key, change_key, shared_changes
from smspec.review.comparison import Comparison, Reason, Uncompared
from smspec.review.job_review import JobReview
from smspec.review.kinds import KINDS
from smspec.review.kinds.members import CEILING, COST, percent
from smspec.review.kinds.security import SECURITY
from smspec.service.cost_ceiling import Ceiling, amount
from smspec.source import dotted
from smspec.source.frozen import dataclass


def records(comparison: Comparison, failures: Iterable[Failure] = ()) -> str:
    """Return the differences and what could not be compared as ASCII JSON; an empty list if all is equal.

    ``failures``: what `--fail-on` fails.
    """
    failed: dict[int, list[Failure]] = {}
    for failure in failures:
        failed.setdefault(id(failure.review), []).append(failure)
    unknown = {job.file: job for job in comparison.uncompared}
    numbers = shared_changes(comparison.reviews)
    jobs = [
        _job(review, unknown.pop(review.file, None), numbers, failed.get(id(review), ()))
        for review in comparison.reviews
    ]
    settings = ({**_job(review, None, {}, failed.get(id(review), ())), "job": ""} for review in comparison.settings)
    return json.dumps([*settings, *jobs, *map(_unknown, unknown.values())], indent=2) + "\n"


def _unknown(job: Uncompared) -> dict[str, object]:
    return {
        "job": job.name,
        "file": job.file,
        "old_file": job.file,
        "status": "not_compared",
        "verdict": "",
        "cost_ceiling": {"old": None, "new": None},
        "changes": [],
        "not_compared": [_reason(reason) for reason in job.reasons],
        "failed": [],
    }


def _reason(reason: Reason) -> dict[str, object]:
    return {
        "side": reason.side,
        "code": reason.first.code,
        "message": reason.first.message,
        "file": reason.first.span.file,
        "line": reason.first.span.line,
        "more": reason.more,
        "as_is": None in reason.overlays,
        "overlays": [overlay for overlay in reason.overlays if overlay is not None],
    }


def _job(
    review: JobReview, unknown: Uncompared | None, numbers: Mapping[Key, int], failures: Iterable[Failure]
) -> dict[str, object]:
    return {
        "job": review.name,
        "file": review.file,
        "old_file": review.old_file,
        "status": review.status,
        "verdict": review.verdicts[0][1] if review.verdicts else "",
        "cost_ceiling": {"old": _ceiling(review.ceilings[0]), "new": _ceiling(review.ceilings[1])},
        "changes": [_change(reported, numbers) for reported in review.reported],
        "not_compared": [_reason(reason) for reason in unknown.reasons] if unknown else [],
        "failed": [_failure(failure) for failure in failures],
    }


def _failure(failure: Failure) -> dict[str, object]:
    change = failure.first.change
    return {
        "gate": failure.gate,
        "kind": failure.kind,
        "limit": None if failure.limit is None else float(failure.limit),
        "message": failure.message(),
        "path": dotted(change.path),
        "file": change.file,
        "line": change.line,
        "percent": None if change.rise is None else round(float(change.rise), 2),
        "as_is": failure.first.as_is,
        "overlays": list(failure.first.overlays),
        "more": len(failure.reported) - 1,
    }


def _ceiling(ceiling: Ceiling | None) -> dict[str, object] | None:
    return None if ceiling is None else ceiling.record


def _change(reported: ReportedChange, numbers: Mapping[Key, int]) -> dict[str, object]:
    change = reported.change
    return {
        "kind": change.kind,
        "path": dotted(change.path),
        "old": change.old,
        "new": change.new,
        "what": change.what,
        "file": change.file,
        "line": change.line,
        "percent": None if change.rise is None else round(float(change.rise), 2),
        "as_is": reported.as_is,
        "overlays": list(reported.overlays),
        "group": numbers.get(change_key(reported)),
    }


_COST_ABOVE = re.compile(r"cost\s*>\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%?")
_SEVERITY: Severity = "error"


class UnknownChangeKind(ValueError):
    """A word that is not a kind of change; the text lists the valid ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOn:
    """``kinds`` always fail; cost fails if it rises by more than ``cost_above`` percent."""

    kinds: frozenset[str]
    cost_above: Fraction | None

    def matches(self, change: Change) -> bool:
        """Return whether a change fails the check.

        A ceiling without anything to compare it with may have risen, so it fails.
        """
        if change.kind in self.kinds:
            return True
        return change.brief == CEILING and self._is_above(change)

    def _is_above(self, change: Change) -> bool:
        return self.cost_above is not None and (change.rise is None or change.rise > self.cost_above)

    def failures(self, reviews: Iterable[JobReview]) -> tuple[Failure, ...]:
        """Return what fails: one for each job, kind, and limit. Changed jobs come before new ones, access before all.

        The first ones name each kind and limit, so that no number of others hides one.
        """
        found = [failure for review in reviews for failure in self._of(review)]
        found.sort(key=lambda failure: (failure.review.status == "added", failure.kind != SECURITY.name))
        first = {failure.gate: failure for failure in reversed(found)}
        return tuple(sorted(found, key=lambda failure: first[failure.gate] is not failure))

    def _of(self, review: JobReview) -> Iterator[Failure]:
        for kind in KINDS:
            if kind in self.kinds:
                matching = tuple(each for each in review.reported if each.change.kind == kind)
                if matching:
                    yield Failure(review=review, gate=kind, kind=kind, limit=None, reported=matching)
        if self.cost_above is not None:
            limit = self.cost_above
            risen = [each for each in review.reported if each.change.brief == CEILING and self._is_above(each.change)]
            # What cannot be compared may be the highest of all.
            risen.sort(key=lambda each: (each.change.rise is not None, -(each.change.rise or 0)))
            if risen:
                yield Failure(
                    review=review,
                    gate=f"{COST.name}>{amount(limit)}%",
                    kind=COST.name,
                    limit=limit,
                    reported=tuple(risen),
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The changes of a job that a word of ``--fail-on`` is about. ``gate``: the word; ``limit``: its percent."""

    review: JobReview
    gate: str
    kind: str
    limit: Fraction | None
    reported: tuple[ReportedChange, ...]

    @property
    def first(self) -> ReportedChange:
        """The change to show: the first, or the highest rise."""
        return self.reported[0]

    def message(self, show: Callable[[str], str] = quoted) -> str:
        """Return what fails, with the limit. ``show`` formats text that a user wrote."""
        change = self.first.change
        if self.limit is None:
            path = dotted(change.path)
            words = f"{show(path)}: {change.what}" if path else change.what
            if has_values(change):
                words += f", {' → '.join(shown_values(change, show))}"
        elif change.rise is None:
            words = f"{change.what}, which cannot be compared with the limit of {amount(self.limit)} %"
        else:
            words = f"{change.what}, above the limit: {percent(change.rise).strip()} > {amount(self.limit)} %"
        overlays = under(self.first, show)
        more = len(self.reported) - 1
        return "".join((words, f" ({overlays})" if overlays else "", f", and {more} more" if more else ""))

    @property
    def place(self) -> str:
        """Where the change is written, as `file:line`."""
        change = self.first.change
        return f"{change.file}:{change.line}" if change.file and change.line else self.review.file

    def line(self) -> str:
        """Return the failure as one line of text."""
        return f"{visible(self.review.name)}: fails `{self.gate}`: {self.message()} ({visible(self.place)})"


def decode_fail_on(words: Iterable[str]) -> FailOn:
    """Parse the words of the option, each a comma-separated list. Raise `UnknownChangeKind`."""
    kinds: set[str] = set()
    above: list[Fraction] = []
    for word in (part.strip() for listed in words for part in listed.split(",")):
        limit = _COST_ABOVE.fullmatch(word)
        if limit:
            above.append(Fraction(limit[1]))
        elif word in KINDS:
            kinds.add(word)
        else:
            known = did_you_mean(word, KINDS) or f"kinds are {', '.join(KINDS)}, and `cost>20%`"
            raise UnknownChangeKind(f"--fail-on {word}: there is no such kind of change; {known}")
    return FailOn(kinds=frozenset(kinds), cost_above=min(above, default=None))


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
