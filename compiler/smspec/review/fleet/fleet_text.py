"""The review of many jobs for a terminal: a summary, then each group of equal changes once, with its jobs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics.visible import visible
from smspec.review.change_lines import Paint, change_lines, painted_kind
from smspec.review.comparison import Comparison
from smspec.review.fleet.change_groups import ChangeGroup, change_groups
from smspec.review.fleet.fleet_summary import summary_rows
from smspec.review.fleet.group_effects import effect_rows
from smspec.review.fleet.headline import has_values_in_headline, headline
from smspec.review.fleet.named_jobs import named
from smspec.source.frozen import replace

MOST_CHANGES = 60
"""How many changes of a group are shown; JSON contains all."""


def fleet_parts(comparison: Comparison, paint: Paint) -> Iterator[Iterator[str]]:
    """Yield the lines of the summary, then those of each group."""
    yield _summary(comparison, paint)
    for group in change_groups(comparison.reviews):
        yield _group(group, paint)


def _summary(comparison: Comparison, paint: Paint) -> Iterator[str]:
    rows = list(summary_rows(comparison))
    margin = max(len(subject) for subject, _ in rows)
    for subject, words in rows:
        yield f"{paint('1', subject)}{' ' * (margin - len(subject))}  {visible(words)}"


def _group(group: ChangeGroup, paint: Paint) -> Iterator[str]:
    names = [review.name for review in group.jobs]
    is_one = len(names) == 1
    who = visible(names[0]) if is_one else f"{len(names):,} jobs"
    yield f"{paint('1', who)}: {headline(group, visible, str)}"
    yield f"  {paint('2', visible(group.jobs[0].file) if is_one else named(names))}"
    effects = list(effect_rows(group))
    kinds = max(map(len, [*(change.kind for change in group.changes), *(kind for kind, _ in effects)]))
    for reported in group.reported[:MOST_CHANGES]:
        if has_values_in_headline(group):
            reported = replace(reported, change=replace(reported.change, old=None, new=None))
        yield from change_lines(reported, kinds, group.jobs[0].file if is_one else "", paint)
    if len(group.reported) > MOST_CHANGES:
        yield f"  … and {len(group.reported) - MOST_CHANGES} more: --format json has them all"
    for kind, what in effects:
        yield f"  {painted_kind(kind, kinds, paint)}  {visible(what)}"
